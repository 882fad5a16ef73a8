//! Reads the packets of a picture as they were written.

use super::{av_fault, fault};
use crate::libav::input::Input;
use crate::libav::raw::parameters;
use crate::media::SinkError;
use ffmpeg_next::Packet;
use ffmpeg_next::packet::Mut;
use ffmpeg_sys_next as sys;
use std::ffi::CString;
use std::path::Path;

/// Reads a container packet by packet.
pub(super) struct PartReader {
    input: Input,
    name: String,
    stream: usize,
}

impl PartReader {
    /// Opens a file; with `probe`, packets complete its header.
    pub(super) fn open(path: &Path, probe: bool) -> Result<PartReader, SinkError> {
        let name = path.display().to_string();
        let url = CString::new([b"file:", path.as_os_str().as_encoded_bytes()].concat());
        let url = url.map_err(|_| fault(path, "the name contains a zero byte".into()))?;
        // without edit lists
        let options = [("protocol_whitelist", "file"), ("ignore_editlist", "1")];
        let unreadable = |e| av_fault(&name, "it cannot be read", e);
        let mut input = Input::open_header(&url, &options, None, None).map_err(unreadable)?;
        if probe {
            input.find_streams().map_err(unreadable)?;
        }
        let video = |s: &&sys::AVStream| parameters(s).codec_type == sys::AVMediaType::AVMEDIA_TYPE_VIDEO;
        let stream = input.streams().iter().position(video);
        let stream = stream.ok_or_else(|| fault(path, "it has no video stream".into()))?;
        Ok(PartReader { input, name, stream })
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
                Ok(true) => {
                    restore_addition(packet);
                    return Ok(true);
                }
                read => return read.map_err(|e| av_fault(&self.name, "it cannot be read", e)),
            }
        }
    }
}

/// Restores the side data of a Matroska addition (the alpha channel of VP8 and VP9), which begins with its number:
/// libav's muxer for NUT stores the number with the bytes, and its demuxer puts it before them again.
fn restore_addition(packet: &mut Packet) {
    let kind = sys::AVPacketSideDataType::AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL;
    let mut size = 0;
    // SAFETY: our own packet, whose side data has the returned size.
    unsafe {
        let data = sys::av_packet_get_side_data(packet.as_mut_ptr(), kind, &mut size);
        if size >= 16 && std::slice::from_raw_parts(data, 8) == std::slice::from_raw_parts(data.add(8), 8) {
            data.copy_from(data.add(8), size - 8);
            sys::av_packet_shrink_side_data(packet.as_mut_ptr(), kind, size - 8);
        }
    }
}

/// The number of pictures in the first bytes of a file whose writing failed there, since later bytes may be invalid; and
/// the position of the last one. 0 if the file cannot be read.
pub(super) fn intact_pictures(path: &Path, bytes: u64) -> (u64, u64) {
    let (mut count, mut last) = (0, 0);
    let mut packet = Packet::empty();
    if let Ok(mut reader) = PartReader::open(path, true) {
        while reader.next(&mut packet).unwrap_or(false) {
            let Ok(at) = u64::try_from(packet.position()) else { continue };
            if at.saturating_add(packet.size() as u64) <= bytes {
                (count, last) = (count + 1, at);
            }
        }
    }
    (count, last)
}
