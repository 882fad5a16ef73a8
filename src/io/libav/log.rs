//! Captures libav's messages: nothing is printed without our control, and the last messages can be shown with an error.
//!
//! libav has one callback for the whole process, which receives the context of each message. Every input and output has
//! its own log. A message goes to the log that its thread has [entered](Log::enter). Messages from a decoder's own
//! threads are recognised by the class of its context, which is a copy that belongs to the log. Messages of other
//! contexts on other threads are ignored.

use ffmpeg_sys_next as sys;
use grainfield_filters::host::lock;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, Weak};

/// The number of messages that are kept.
const KEPT: usize = 8;
/// The longest line that is kept, in bytes.
const LINE: usize = 1024;

/// libav's messages about one input or output.
#[derive(Clone)]
pub(crate) struct Log(Arc<Inner>);

struct Inner {
    /// The class of our decoders' contexts, recognised by its address.
    class: Box<sys::AVClass>,
    messages: Mutex<Messages>,
}

// SAFETY: the class is never written; libav reads such structures from any thread.
unsafe impl Send for Inner {}
// SAFETY: as above; the rest is behind a lock.
unsafe impl Sync for Inner {}

#[derive(Default)]
struct Messages {
    /// The last lines, and whether they came from one of our decoders.
    lines: VecDeque<(bool, String)>,
    /// The message that the input is cut off.
    cut: Option<String>,
    /// Number of errors of our decoders.
    decoder_errors: u32,
    /// Number of errors of libav's own parsers and decoders.
    parser_errors: u32,
}

/// All logs, by the addresses of their classes.
static LOGS: Mutex<BTreeMap<usize, Weak<Inner>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The log that this thread has entered.
    static HERE: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// While it exists, libav's messages on its thread go to a log.
pub(crate) struct Entered(Option<Log>);

impl Drop for Entered {
    fn drop(&mut self) {
        HERE.set(self.0.take());
    }
}

impl Log {
    pub(crate) fn new() -> Log {
        super::init();
        // SAFETY: returns a static structure, which is copied.
        let class = Box::new(unsafe { std::ptr::read(sys::avcodec_get_class()) });
        let address = (&raw const *class).addr();
        let inner = Arc::new(Inner { class, messages: Mutex::default() });
        lock(&LOGS).insert(address, Arc::downgrade(&inner));
        Log(inner)
    }

    /// The log that this thread has entered, else a new one.
    pub(crate) fn here() -> Log {
        HERE.with_borrow(Clone::clone).unwrap_or_else(Log::new)
    }

    /// From now on, libav's messages on this thread go to this log.
    pub(crate) fn enter(&self) -> Entered {
        Entered(HERE.replace(Some(self.clone())))
    }

    /// Receives a codec's messages from all threads.
    ///
    /// # Safety
    /// The context must not outlive this log.
    pub(crate) unsafe fn adopt(&self, context: &mut sys::AVCodecContext) {
        context.av_class = &raw const *self.0.class; // a copy of libav's own class
    }

    /// Removes and returns the last lines, oldest first.
    pub(crate) fn drain(&self) -> Vec<String> {
        lock(&self.0.messages).lines.drain(..).map(|l| without_address(&l.1)).collect()
    }

    /// The same for those of our decoders.
    pub(crate) fn drain_decoders(&self) -> Vec<String> {
        let mut messages = lock(&self.0.messages);
        let (own, rest): (VecDeque<_>, _) =
            std::mem::take(&mut messages.lines).into_iter().partition(|l| l.0);
        messages.lines = rest;
        own.iter().map(|l| without_address(&l.1)).collect()
    }

    /// libav's message that the input is cut off, if there was one; returned once.
    pub(crate) fn take_cut(&self) -> Option<String> {
        lock(&self.0.messages).cut.take().map(|line| without_address(&line))
    }

    /// The number of errors that our decoders have reported.
    pub(crate) fn decoder_errors(&self) -> u32 {
        lock(&self.0.messages).decoder_errors
    }

    /// The number of errors that libav's own parsers have reported.
    pub(crate) fn parser_errors(&self) -> u32 {
        lock(&self.0.messages).parser_errors
    }

    fn keep(&self, decoder: bool, codec: bool, level: c_int, text: String) {
        let mut messages = lock(&self.0.messages);
        if codec && level <= sys::AV_LOG_ERROR {
            let count = if decoder { &mut messages.decoder_errors } else { &mut messages.parser_errors };
            *count = count.wrapping_add(1);
        }
        if ["prematurely", "partial file"].iter().any(|w| text.contains(w)) {
            messages.cut = Some(text.clone());
        }
        if text.is_empty() || messages.lines.back().is_some_and(|l| l.1 == text) {
            return;
        }
        if messages.lines.len() == KEPT {
            messages.lines.pop_front();
        }
        messages.lines.push_back((decoder, text));
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        lock(&LOGS).remove(&(&raw const *self.class).addr());
    }
}

/// Redirects libav's warnings and errors from standard error to the logs.
#[allow(clippy::missing_transmute_annotations)] // `va_list` has a different name on every machine
pub(super) fn redirect() {
    // SAFETY: the callback is a plain function that keeps no pointer; only the type of its last argument is
    // declared differently (see `Callback`).
    unsafe {
        sys::av_log_set_level(sys::AV_LOG_WARNING);
        sys::av_log_set_callback(std::mem::transmute::<Option<Callback>, _>(Some(keep)));
    }
}

/// Removes and returns libav's messages in this thread's log, oldest first; at most the last few lines.
pub(crate) fn drain() -> Vec<String> {
    HERE.with_borrow(|log| log.as_ref().map(Log::drain)).unwrap_or_default()
}

/// The same, formatted for the end of a sentence.
pub(crate) fn recent_messages() -> String {
    let lines = drain();
    if lines.is_empty() { String::new() } else { format!(" ({})", lines.join("; ")) }
}

/// Removes the address of the context at the beginning of a line, which differs in every run.
fn without_address(line: &str) -> String {
    match line.split_once(" @ 0x") {
        Some((kind, rest)) if kind.starts_with('[') => match rest.split_once(']') {
            Some((address, text)) if address.bytes().all(|b| b.is_ascii_hexdigit()) => {
                format!("{kind}]{text}")
            }
            _ => line.to_owned(),
        },
        _ => line.to_owned(),
    }
}

/// The type of the callback in Rust. `va_list` is passed as a pointer on every machine that both FFmpeg and Rust
/// support (an array that decays, or a structure passed by address).
type Callback = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, *mut c_void);

mod line {
    use super::*;
    #[allow(clashing_extern_declarations)] // the same function, with `va_list` declared as a pointer
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
    // SAFETY: a context for logging begins with a pointer to its class; the name of a class is a static string. All three
    // may be null.
    let (class, codec) = unsafe {
        let class = context.cast::<*const sys::AVClass>().as_ref().and_then(|class| class.as_ref());
        let name = class.map(|c| c.class_name).filter(|name| !name.is_null());
        (class, name.is_some_and(|name| CStr::from_ptr(name) == c"AVCodecContext"))
    };
    let address = class.map_or(0, |class| std::ptr::from_ref(class).addr());
    let own = lock(&LOGS).get(&address).and_then(Weak::upgrade).map(Log);
    let decoder = own.is_some();
    let Some(log) = own.or_else(|| HERE.try_with(|h| h.borrow().clone()).ok().flatten()) else { return };
    let mut text = [0 as c_char; LINE];
    let mut prefix = 1;
    // SAFETY: libav passes its own context, format and arguments; the buffer has the specified size and is
    // zero-terminated afterwards.
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
    log.keep(decoder, codec, level, text.to_string_lossy().trim().to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::libav::raw::Fields;
    use ffmpeg_next::codec::Context;

    #[test]
    fn no_line_contains_an_address() {
        assert_eq!(
            without_address("[matroska,webm @ 0x561bb84cc480] File ended prematurely"),
            "[matroska,webm] File ended prematurely"
        );
        assert_eq!(without_address("[NULL @ 0x1] a @ 0x2]"), "[NULL] a @ 0x2]");
        for as_it_is in ["plain", "a @ 0x12] b", "[h264 @ 0xhello] c", "[h264 @ 0x12"] {
            assert_eq!(without_address(as_it_is), as_it_is);
        }
    }

    #[test]
    fn logs_are_separate_and_other_contexts_are_unchanged() {
        let (one, other) = (Log::new(), Log::new());
        let mut mine = 7;
        let (mut stranger, mut ours) = (Context::new(), Context::new());
        stranger.av_mut().opaque = (&raw mut mine).cast();
        // SAFETY: `one` outlives it.
        unsafe { one.adopt(ours.av_mut()) };
        let report = |context: &Context, text: &CStr| {
            // SAFETY: a valid context, and a text without format specifiers.
            unsafe { sys::av_log(context.as_ptr().cast_mut().cast(), sys::AV_LOG_ERROR, text.as_ptr()) };
        };
        report(&stranger, c"nobody listens\n");
        {
            let _here = other.enter();
            report(&stranger, c"a parser\n");
            report(&ours, c"a decoder\n");
            report(&stranger, c"File ended prematurely\n");
            {
                let _inside = one.enter();
                report(&stranger, c"inside\n");
            }
            assert_eq!(drain().len(), 2);
        }
        let ours = std::thread::spawn(move || {
            report(&ours, c"on a thread\n");
            ours
        });
        drop(ours.join().unwrap());
        assert_eq!(mine, 7);
        assert_eq!(
            (one.decoder_errors(), one.parser_errors(), other.decoder_errors(), other.parser_errors()),
            (2, 1, 0, 2)
        );
        let messages = one.drain_decoders();
        assert!(messages[0].ends_with("a decoder") && messages[1].ends_with("on a thread"), "{messages:?}");
        assert!(one.drain()[0].ends_with("inside"));
        assert!(other.take_cut().unwrap().ends_with("prematurely") && other.take_cut().is_none());
        assert!(one.take_cut().is_none() && drain().is_empty());
    }
}
