//! Wrappers for functions and fields that moved between FFmpeg 5.1 and 9.

use ffmpeg_sys_next as sys;
use sys::AVPacketSideDataType;

/// A stream's own side data of that kind (rotation, HDR10 metadata), if it has any.
pub fn stream_side_data(stream: &sys::AVStream, kind: AVPacketSideDataType) -> Option<&[u8]> {
    // SAFETY: a stream has parameters; libav gives the address and number of bytes, which live as long as the stream is
    // unchanged.
    unsafe {
        #[cfg(not(ffmpeg_6_1))]
        let (data, size) = {
            let mut size = 0;
            let data = sys::av_stream_get_side_data(stream, kind, &mut size);
            (data.cast_const(), size)
        };
        #[cfg(ffmpeg_6_1)]
        let (data, size) = {
            let par = stream.codecpar;
            let found = sys::av_packet_side_data_get((*par).coded_side_data, (*par).nb_coded_side_data, kind);
            if found.is_null() { (std::ptr::null(), 0) } else { ((*found).data.cast_const(), (*found).size) }
        };
        (!data.is_null() && size > 0).then(|| std::slice::from_raw_parts(data, size))
    }
}

/// Sets side data of a stream, replacing those of the same kind. `false` if out of memory.
pub fn set_stream_side_data(stream: &mut sys::AVStream, kind: AVPacketSideDataType, bytes: &[u8]) -> bool {
    // SAFETY: the copy is made with libav's allocator and passed to the stream, which frees it; if it is
    // rejected it is freed here.
    unsafe {
        let data = sys::av_memdup(bytes.as_ptr().cast(), bytes.len()).cast::<u8>();
        if data.is_null() {
            return false;
        }
        #[cfg(not(ffmpeg_6_1))]
        let taken = sys::av_stream_add_side_data(stream, kind, data, bytes.len()) >= 0;
        #[cfg(ffmpeg_6_1)]
        let taken = {
            let par = stream.codecpar;
            let (list, count) = (&mut (*par).coded_side_data, &mut (*par).nb_coded_side_data);
            !sys::av_packet_side_data_add(list, count, kind, data.cast(), bytes.len(), 0).is_null()
        };
        if !taken {
            sys::av_free(data.cast());
        }
        taken
    }
}

/// Copies side data of some kinds from one stream to another.
pub fn copy_stream_side_data(from: &sys::AVStream, to: &mut sys::AVStream, kinds: &[AVPacketSideDataType]) {
    for &kind in kinds {
        if let Some(bytes) = stream_side_data(from, kind) {
            set_stream_side_data(to, kind, bytes);
        }
    }
}

/// The duration of a frame in ticks of its time base; 0 if unspecified.
pub fn duration(frame: &sys::AVFrame) -> i64 {
    #[cfg(not(ffmpeg_6_0))]
    return frame.pkt_duration;
    #[cfg(ffmpeg_6_0)]
    return frame.duration;
}

/// Sets the duration of a frame.
pub fn set_duration(frame: &mut sys::AVFrame, ticks: i64) {
    #[cfg(not(ffmpeg_6_0))]
    {
        frame.pkt_duration = ticks;
    }
    #[cfg(ffmpeg_6_0)]
    {
        frame.duration = ticks;
    }
}

/// Sets whether a frame is interlaced, and if so whether the top field comes first.
pub fn set_interlaced(frame: &mut sys::AVFrame, top_first: Option<bool>) {
    #[cfg(not(ffmpeg_6_1))]
    {
        frame.interlaced_frame = top_first.is_some().into();
        frame.top_field_first = top_first.unwrap_or(false).into();
    }
    #[cfg(ffmpeg_6_1)]
    {
        let (interlaced, top) =
            (sys::AV_FRAME_FLAG_INTERLACED as i32, sys::AV_FRAME_FLAG_TOP_FIELD_FIRST as i32);
        frame.flags &= !(interlaced | top);
        if let Some(first) = top_first {
            frame.flags |= interlaced | if first { top } else { 0 };
        }
    }
}
