//! Maps an input's name to libav: a file, whatever characters its name contains, or an allowed protocol.

use super::interrupt::StopFlag;
use crate::disk::cache::Cache;
use crate::disk::{name_of, reach, system};
use ffmpeg_sys_next as sys;
use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::path::Path;
use std::sync::Arc;

/// Protocols that are always allowed: they access only files and data that the user pipes in.
const ALWAYS: [&str; 5] = ["file", "crypto", "data", "pipe", "fd"];

/// The address to open, in libav's form.
#[derive(Clone, Debug)]
pub(crate) struct InputUrl {
    /// For `avformat_open_input`.
    pub(crate) url: CString,
    /// libav's `protocol_whitelist`.
    pub(crate) protocols: String,
    /// Ends reads that stand still.
    pub(crate) stop: StopFlag,
    /// The cache of indexes.
    pub(crate) cache: Option<Arc<Cache>>,
}

/// The reason why an input is not opened.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputUrlError {
    /// The name of a protocol that is not allowed.
    #[error("'{0}:' is a protocol, and only files and allowed protocols are read")]
    Protocol(String),
    /// libav's strings end at a zero byte.
    #[error("the name contains a zero byte")]
    Zero,
}

/// The text before the first colon, if libav has a protocol of that name.
pub fn protocol(input: &OsStr) -> Option<String> {
    let bytes = input.as_encoded_bytes();
    // `subfile,,start,0,end,0,,:a.mkv` and `crypto+file:a.mkv` are protocols with parameters after their names.
    let end = bytes.iter().position(|b| !b.is_ascii_alphanumeric())?;
    let name = std::str::from_utf8(&bytes[..end]).ok()?;
    let separator = matches!(bytes[end], b':' | b',' | b'+');
    (separator && bytes.contains(&b':') && input_protocols().iter().any(|k| k == name))
        .then(|| name.to_owned())
}

/// All input protocols of this libav.
fn input_protocols() -> Vec<String> {
    let mut opaque = std::ptr::null_mut();
    // SAFETY: the cursor starts as null and is managed by libav; names are static strings, and null at the end.
    let next = || unsafe {
        let name = sys::avio_enum_protocols(&mut opaque, 0);
        (!name.is_null()).then(|| CStr::from_ptr(name).to_string_lossy().into_owned())
    };
    std::iter::from_fn(next).collect()
}

/// The protocols that a protocol depends on.
fn required_protocols(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "http" | "icecast" | "mmsh" | "rtmpt" => &["tcp", "httpproxy", "http"],
        "https" | "rtmpts" | "ffrtmphttp" => &["tls", "tcp", "httpproxy", "http"],
        "rtmp" | "ftp" | "gopher" | "mmst" => &["tcp"],
        "rtmps" | "gophers" | "tls" => &["tls", "tcp"],
        "rtsp" | "rtp" | "srtp" | "sap" => &["tcp", "udp", "rtp", "srtp"],
        _ => &[],
    }
}

/// Makes everything that a context opens pass through [`reach`], if that is limited: the input, and what a playlist or
/// a container names.
///
/// # Safety
/// `context` must be valid and not open yet.
pub(crate) unsafe fn confine(context: *mut sys::AVFormatContext) {
    if reach::is_limited() {
        // SAFETY: guaranteed by the caller.
        unsafe { (*context).io_open = Some(open_within) };
    }
}

unsafe extern "C" fn open_within(
    context: *mut sys::AVFormatContext,
    io: *mut *mut sys::AVIOContext,
    url: *const c_char,
    flags: c_int,
    options: *mut *mut sys::AVDictionary,
) -> c_int {
    // SAFETY: libav gives a string.
    let name = unsafe { CStr::from_ptr(url) }.to_bytes();
    let name = name_of(name.strip_prefix(b"file:").unwrap_or(name));
    if flags & sys::AVIO_FLAG_WRITE != 0 || (protocol(name).is_some() && !Path::new(name).exists()) {
        return -libc::EACCES;
    }
    let opened = reach::open(Path::new(name)).and_then(|file| {
        // The descriptor is used where it has a name, since the name may have got another meaning.
        let descriptor = system::descriptor(&file);
        let same = if descriptor.exists() { descriptor.as_os_str() } else { name };
        Ok((CString::new([b"file:", same.as_encoded_bytes()].concat())?, file))
    });
    match opened {
        // SAFETY: the arguments are those of libav's own function, except for the name, which is a string.
        Ok((same, _file)) => unsafe {
            sys::avio_open2(io, same.as_ptr(), flags, &raw const (*context).interrupt_callback, options)
        },
        Err(error) => -error.raw_os_error().map_or(libc::EACCES, |_| system::errno(&error)),
    }
}

/// Converts an input's name to an address for libav.
pub(crate) fn input_url(
    input: &OsStr,
    allowed: &[String],
    stop: &StopFlag,
) -> Result<InputUrl, InputUrlError> {
    let mut protocols: Vec<&str> = ALWAYS.to_vec();
    for name in allowed {
        protocols.push(name);
        protocols.extend(required_protocols(name));
    }
    if reach::is_limited() {
        // No demuxer opens anything but by `open_within`. The list may not be empty, which would be no list.
        protocols = vec!["none"];
    }
    let url = match protocol(input) {
        // If a file of that name exists, the name means the file.
        Some(name) if !Path::new(input).exists() => {
            if !protocols.contains(&name.as_str()) {
                return Err(InputUrlError::Protocol(name));
            }
            input.as_encoded_bytes().to_vec()
        }
        _ => [b"file:", input.as_encoded_bytes()].concat(),
    };
    let (url, protocols) = (CString::new(url).map_err(|_| InputUrlError::Zero)?, protocols.join(","));
    if protocols.contains('\0') {
        return Err(InputUrlError::Zero);
    }
    Ok(InputUrl { url, protocols, stop: stop.clone(), cache: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_protocols() {
        let url = |name: &[u8], allowed: &[&str]| {
            let allowed: Vec<String> = allowed.iter().map(|a| (*a).to_owned()).collect();
            input_url(name_of(name), &allowed, &StopFlag::default()).map(|p| p.url.into_bytes())
        };
        assert_eq!(url(b"a.mkv", &[]).unwrap(), b"file:a.mkv");
        assert_eq!(url(b"a:b.mkv", &[]).unwrap(), b"file:a:b.mkv");
        assert_eq!(url(b"\xff:b.mkv", &[]).unwrap(), b"file:\xff:b.mkv");
        for (name, protocol) in [
            (&b"http://x/a.mp4"[..], "http"),
            (b"concat:a.ts|b.ts", "concat"),
            (b"subfile,,start,0,end,9,,:a.mkv", "subfile"),
            (b"concatf:list", "concatf"),
        ] {
            let error = url(name, &[]).unwrap_err();
            assert_eq!(error, InputUrlError::Protocol(protocol.into()));
            assert_eq!(url(name, &[protocol]).unwrap(), name);
        }
        assert_eq!(url(b"file:a.mkv", &[]).unwrap(), b"file:a.mkv");
        assert_eq!(url(b"a\0b", &[]), Err(InputUrlError::Zero));
        let https = input_url(OsStr::new("https://x/y"), &["https".into()], &StopFlag::default()).unwrap();
        assert!(https.protocols.contains("tls"));
    }
}
