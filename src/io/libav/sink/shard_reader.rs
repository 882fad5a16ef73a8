//! Reads the packets of a video's picture as they were written.

use super::{av_fault, fault};
use crate::libav::input::Input;
use crate::libav::raw::parameters;
use crate::media::SinkError;
use ffmpeg_next::Packet;
use ffmpeg_sys_next as sys;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Reads a container packet by packet.
pub(super) struct ShardReader {
    input: Input,
    name: String,
    stream: usize,
}

impl ShardReader {
    pub(super) fn open(path: &Path) -> Result<ShardReader, SinkError> {
        let name = path.display().to_string();
        let url = CString::new([b"file:", path.as_os_str().as_bytes()].concat());
        let url = url.map_err(|_| fault(path, "the name contains a zero byte".into()))?;
        // without edit lists
        let options = [("protocol_whitelist", "file"), ("ignore_editlist", "1")];
        let input = Input::open_with(&url, &options, None);
        let input = input.map_err(|e| av_fault(&name, "it cannot be read", e))?;
        let video = |s: &&sys::AVStream| parameters(s).codec_type == sys::AVMediaType::AVMEDIA_TYPE_VIDEO;
        let stream = input.streams().iter().position(video);
        let stream = stream.ok_or_else(|| fault(path, "it has no video stream".into()))?;
        Ok(ShardReader { input, name, stream })
    }

    /// The picture's stream.
    pub(super) fn stream(&self) -> &sys::AVStream {
        self.input.streams()[self.stream]
    }

    /// Reads the next packet of the picture; `false` at the end.
    pub(super) fn next(&mut self, packet: &mut Packet) -> Result<bool, SinkError> {
        loop {
            match self.input.read(packet) {
                Ok(true) if packet.stream() != self.stream => {}
                read => return read.map_err(|e| av_fault(&self.name, "it cannot be read", e)),
            }
        }
    }
}

/// The number of pictures in the first bytes of a file whose writing failed there, since later bytes may be invalid; and
/// the position of the last one. 0 if the file cannot be read.
pub(super) fn intact_pictures(path: &Path, bytes: u64) -> (u64, u64) {
    let (mut count, mut last) = (0, 0);
    let mut packet = Packet::empty();
    if let Ok(mut reader) = ShardReader::open(path) {
        while reader.next(&mut packet).unwrap_or(false) {
            let Ok(at) = u64::try_from(packet.position()) else { continue };
            if at.saturating_add(packet.size() as u64) <= bytes {
                (count, last) = (count + 1, at);
            }
        }
    }
    (count, last)
}
