//! libav's messages, taken over: nothing is printed behind our back, and what it said last can be told with an error.

use ffmpeg_sys_next as sys;
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many messages are kept.
const KEPT: usize = 8;
/// Longest line kept, bytes.
const LINE: usize = 1024;

static LAST: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());

thread_local! {
    static FAULTS: Cell<u32> = const { Cell::new(0) };
}

/// How many errors codecs and parsers have told of on this thread.
pub(super) fn faults_here() -> u32 {
    FAULTS.get()
}

/// Sends libav's warnings and errors here instead of to standard error.
#[allow(clippy::missing_transmute_annotations)] // `va_list` has another name on every machine
pub(super) fn take_over() {
    // SAFETY: the callback is a plain function that keeps no pointer it is handed; only the type of its last
    // argument is said differently (see `Callback`).
    unsafe {
        sys::av_log_set_level(sys::AV_LOG_WARNING);
        #[allow(clippy::missing_transmute_annotations)] // its name differs from machine to machine
        sys::av_log_set_callback(std::mem::transmute::<Option<Callback>, _>(Some(keep)));
    }
}

/// What libav said since this was last asked, oldest first; at most the last few lines.
pub fn drain() -> Vec<String> {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).drain(..).map(|line| nameless(&line)).collect()
}

/// What was said of inputs that are cut off, by the address of their context: other threads may take what was said at
/// large.
static CUT: Mutex<VecDeque<(usize, String)>> = Mutex::new(VecDeque::new());

/// How many of these are kept.
const CUTS: usize = 64;

/// In which words libav has said that the input of a context is cut off, if it has; told once.
pub(super) fn cut_of(context: *const c_void) -> Option<String> {
    let mut cut = CUT.lock().unwrap_or_else(PoisonError::into_inner);
    let found = cut.iter().position(|c| c.0 == context.addr()).and_then(|i| cut.remove(i));
    cut.retain(|c| c.0 != context.addr());
    found.map(|c| nameless(&c.1))
}

/// A line without the address of the context that it begins with, which is another one in every run.
fn nameless(line: &str) -> String {
    match line.split_once(" @ 0x") {
        Some((kind, rest)) if kind.starts_with('[') => match rest.split_once(']') {
            Some((address, said)) if address.bytes().all(|b| b.is_ascii_hexdigit()) => {
                format!("{kind}]{said}")
            }
            _ => line.to_owned(),
        },
        _ => line.to_owned(),
    }
}

/// What one of libav's contexts said of late. libav names contexts by their addresses.
pub(super) fn take_of(context: *const c_void) -> Vec<String> {
    let mark = format!("@ {context:p}]");
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let (own, rest): (VecDeque<String>, _) =
        std::mem::take(&mut *last).into_iter().partition(|l: &String| l.contains(&mark));
    *last = rest;
    own.iter().map(|line| nameless(line)).collect()
}

/// The callback as Rust can say it. `va_list` is a pointer where it is passed, on every machine that FFmpeg and Rust
/// have in common (an array that decays, or a structure passed by address).
type Callback = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *mut c_void);

mod line {
    use super::*;
    #[allow(clashing_extern_declarations)] // the same function, with `va_list` said as a pointer
    unsafe extern "C" {
        pub(super) fn av_log_format_line2(
            ptr: *mut c_void,
            level: c_int,
            fmt: *const c_char,
            vl: *mut c_void,
            line: *mut c_char,
            line_size: c_int,
            print_prefix: *mut c_int,
        ) -> c_int;
    }
}

unsafe extern "C" fn keep(context: *mut c_void, level: c_int, format: *const c_char, args: *mut c_void) {
    if level > sys::AV_LOG_WARNING {
        return;
    }
    if level <= sys::AV_LOG_ERROR && !context.is_null() {
        // SAFETY: what libav logs for begins with a pointer to its class, which may be null.
        let class = unsafe { context.cast::<*const sys::AVClass>().read().as_ref() };
        // SAFETY: the name of a class is a static string, or null.
        let codec = class.is_some_and(|c| unsafe {
            !c.class_name.is_null() && CStr::from_ptr(c.class_name) == c"AVCodecContext"
        });
        if codec {
            FAULTS.set(FAULTS.get().wrapping_add(1));
            // SAFETY: its class says that it is a codec's context. No other than our decoders have this pointer set, to
            // a counter that lives longer than they do.
            let counter = unsafe {
                let opaque = (*context.cast::<sys::AVCodecContext>()).opaque;
                opaque.cast::<AtomicU32>().as_ref()
            };
            if let Some(counter) = counter {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    let mut text = [0 as c_char; LINE];
    let mut prefix = 1;
    // SAFETY: libav hands over its own context, format and arguments; the buffer is as long as said and comes back
    // ended with a zero.
    let text = unsafe {
        line::av_log_format_line2(
            context,
            level,
            format,
            args,
            text.as_mut_ptr(),
            LINE as c_int,
            &mut prefix,
        );
        CStr::from_ptr(text.as_ptr())
    };
    let text = text.to_string_lossy().trim().to_owned();
    if ["prematurely", "partial file"].iter().any(|w| text.contains(w)) {
        let mut cut = CUT.lock().unwrap_or_else(PoisonError::into_inner);
        cut.truncate(CUTS - 1);
        cut.push_front((context.addr(), text.clone()));
    }
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if text.is_empty() || last.back() == Some(&text) {
        return;
    }
    if last.len() == KEPT {
        last.pop_front();
    }
    last.push_back(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_tells_an_address() {
        assert_eq!(
            nameless("[matroska,webm @ 0x561bb84cc480] File ended prematurely"),
            "[matroska,webm] File ended prematurely"
        );
        assert_eq!(nameless("[NULL @ 0x1] a @ 0x2]"), "[NULL] a @ 0x2]");
        for as_it_is in ["plain", "a @ 0x12] b", "[h264 @ 0xhello] c", "[h264 @ 0x12"] {
            assert_eq!(nameless(as_it_is), as_it_is);
        }
    }
}
