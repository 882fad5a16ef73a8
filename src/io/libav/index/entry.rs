//! Finds pictures at which decoding may begin from the coded bytes, since a container's flags are often wrong or too
//! permissive.
//!
//! Syntax after ITU-T H.264 (7.3.1, D.1.8), H.265 (7.3.1), H.262 (6.2.3), ISO/IEC 14496-2 (6.2.5), the VP8 data format
//! (RFC 6386, 9.1), the VP9 bitstream (6.2, annex B) and the AV1 bitstream (5.3, 5.9).

use ffmpeg_sys_next as sys;
use sys::AVCodecID;

/// The syntax of a codec's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Syntax {
    /// Every packet is an independent picture.
    Intra,
    /// H.264 with this number of length bytes before each unit; 0 for start codes.
    Avc(usize),
    /// HEVC, in the same way.
    Hevc(usize),
    /// MPEG-1 and MPEG-2.
    Mpeg2,
    /// MPEG-4 part 2.
    Mpeg4,
    Vp8,
    Vp9,
    Av1,
    /// Codecs whose packets are pictures, which never refer to pictures before a key frame.
    Keyed,
}

/// Properties of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PacketInfo {
    /// Decoding from here gives, from this picture's timestamp on, exactly the pictures of decoding from the
    /// start.
    pub(crate) entry: bool,
    /// It contains no picture that is shown.
    pub(crate) hidden: bool,
    /// The pictures cannot be determined by counting packets.
    pub(crate) ambiguous: bool,
    /// It ends a sequence: what follows is decoded independently of what came before.
    pub(crate) ends: bool,
}

impl Syntax {
    /// The syntax of a codec with its extra data; `None` for codecs without guarantees.
    pub(crate) fn new(codec: AVCodecID, extra: &[u8]) -> Option<Syntax> {
        use AVCodecID::*;
        let length = |at: usize| match extra {
            [1, ..] if extra.len() > at => usize::from(extra[at] & 3) + 1,
            _ => 0,
        };
        Some(match codec {
            AV_CODEC_ID_H264 => Syntax::Avc(length(4)),
            AV_CODEC_ID_HEVC => Syntax::Hevc(length(21)),
            AV_CODEC_ID_MPEG1VIDEO | AV_CODEC_ID_MPEG2VIDEO => Syntax::Mpeg2,
            AV_CODEC_ID_MPEG4 => Syntax::Mpeg4,
            AV_CODEC_ID_VP8 => Syntax::Vp8,
            AV_CODEC_ID_VP9 => Syntax::Vp9,
            AV_CODEC_ID_AV1 => Syntax::Av1,
            AV_CODEC_ID_FFV1
            | AV_CODEC_ID_THEORA
            | AV_CODEC_ID_FLV1
            | AV_CODEC_ID_H263
            | AV_CODEC_ID_MSMPEG4V1
            | AV_CODEC_ID_MSMPEG4V2
            | AV_CODEC_ID_MSMPEG4V3
            | AV_CODEC_ID_WMV1
            | AV_CODEC_ID_WMV2
            | AV_CODEC_ID_SVQ1
            | AV_CODEC_ID_QTRLE => Syntax::Keyed,
            _ if intra_only(codec) => Syntax::Intra,
            _ => return None,
        })
    }

    /// Whether a stream that begins with this packet is complete, because it is an IDR picture. Other codecs
    /// are not checked.
    pub(crate) fn begins(self, data: &[u8]) -> bool {
        let first = |length, kind: fn(u8) -> u8, coded: fn(u8) -> bool| {
            (Units { rest: data, length }).filter_map(|u| u.first().copied()).map(kind).find(|&k| coded(k))
        };
        match self {
            Syntax::Avc(length) => first(length, |b| b & 31, |k| (1..=5).contains(&k)) == Some(5),
            Syntax::Hevc(length) => {
                matches!(first(length, |b| b >> 1 & 63, |k| k < 32), Some(19 | 20))
            }
            _ => false,
        }
    }

    /// Examines one packet; `key` is the container's flag.
    pub(crate) fn inspect(self, data: &[u8], key: bool) -> PacketInfo {
        let plain = |entry| PacketInfo { entry, hidden: false, ambiguous: false, ends: false };
        match self {
            Syntax::Intra => plain(true),
            Syntax::Keyed => plain(key),
            Syntax::Avc(length) => plain(key && avc_entry(data, length)),
            Syntax::Hevc(length) => {
                let info = hevc(data, length);
                PacketInfo { entry: key && info.entry, ..info }
            }
            Syntax::Mpeg2 => {
                plain(key && after_code(data, 0).is_some_and(|b| b.get(1).is_some_and(|b| b >> 3 & 7 == 1)))
            }
            Syntax::Mpeg4 => {
                let first = after_code(data, 0xb6);
                let intra = first.is_some_and(|b| b.first().is_some_and(|b| b >> 6 == 0));
                // Two pictures in a packet, or a placeholder for one that was in an earlier packet.
                let ambiguous = data.len() <= 8 || first.is_some_and(|b| after_code(b, 0xb6).is_some());
                PacketInfo { ambiguous, ..plain(key && intra) }
            }
            Syntax::Vp8 => match data.first() {
                Some(b) => PacketInfo { hidden: b >> 4 & 1 == 0, ..plain(key && b & 1 == 0) },
                None => PacketInfo { ambiguous: true, ..plain(false) },
            },
            Syntax::Vp9 => vp9(data, key),
            Syntax::Av1 => plain(key && av1_entry(data)),
        }
    }
}

/// Whether every picture of a codec is independent.
pub(crate) fn intra_only(codec: AVCodecID) -> bool {
    // SAFETY: returns a pointer to a static description, or null.
    let descriptor = unsafe { sys::avcodec_descriptor_get(codec).as_ref() };
    descriptor.is_some_and(|d| d.props & sys::AV_CODEC_PROP_INTRA_ONLY != 0)
}

/// The data after the first start code of that value.
fn after_code(data: &[u8], value: u8) -> Option<&[u8]> {
    let at = data.windows(4).position(|w| w[..3] == [0, 0, 1] && w[3] == value)?;
    Some(&data[at + 4..])
}

/// The units of an access unit, without lengths and start codes.
struct Units<'a> {
    rest: &'a [u8],
    length: usize,
}

impl<'a> Iterator for Units<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.length > 0 {
            let (head, rest) = self.rest.split_at_checked(self.length)?;
            let size = head.iter().fold(0usize, |n, &b| n << 8 | usize::from(b)).min(rest.len());
            let (unit, rest) = rest.split_at(size);
            self.rest = rest;
            return Some(unit);
        }
        let start = self.rest.windows(3).position(|w| w == [0, 0, 1])? + 3;
        let rest = &self.rest[start..];
        // Only small units come before the picture, and no more of a unit than this is examined.
        let near = &rest[..rest.len().min(4096)];
        let end = near.windows(3).position(|w| w == [0, 0, 1]).unwrap_or(near.len());
        self.rest = &rest[end..];
        Some(&rest[..end])
    }
}

/// Whether an access unit is an IDR picture, or has a recovery point with an exact match.
fn avc_entry(data: &[u8], length: usize) -> bool {
    let mut recovers = false;
    for unit in (Units { rest: data, length }) {
        match unit.first().map(|b| b & 31) {
            Some(5) => return true,
            Some(1..=4) => return recovers,
            Some(6) => recovers |= avc_recovery(&unit[1..]),
            _ => {}
        }
    }
    false
}

/// Whether an SEI unit has a recovery point (payload type 6) with `exact_match_flag`.
fn avc_recovery(unit: &[u8]) -> bool {
    let bytes = unescaped(unit);
    let mut rest = bytes.as_slice();
    while rest.len() > 2 {
        let mut number = || {
            let mut n = 0usize;
            while let [b, more @ ..] = rest {
                rest = more;
                n += usize::from(*b);
                if *b != 255 {
                    return Some(n);
                }
            }
            None
        };
        let (Some(kind), Some(size)) = (number(), number()) else { return false };
        let Some((payload, more)) = rest.split_at_checked(size) else { return false };
        if kind == 6 {
            let mut bits = Bits(payload, 0);
            let mut zeros = 0;
            while zeros < 32 && bits.take(1) == Some(0) {
                zeros += 1;
            }
            return bits.take(zeros).is_some() && bits.take(1) == Some(1);
        }
        rest = more;
    }
    false
}

/// Removes the bytes that prevent start codes from appearing in the data.
fn unescaped(unit: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(unit.len());
    let mut zeros = 0;
    for &b in unit {
        if zeros >= 2 && b == 3 {
            zeros = 0;
            continue;
        }
        zeros = if b == 0 { zeros + 1 } else { 0 };
        out.push(b);
    }
    out
}

struct Bits<'a>(&'a [u8], usize);

impl Bits<'_> {
    fn take(&mut self, count: usize) -> Option<u64> {
        let mut v = 0;
        for _ in 0..count {
            let byte = self.0.get(self.1 / 8)?;
            v = v << 1 | u64::from(byte >> (7 - self.1 % 8) & 1);
            self.1 += 1;
        }
        Some(v)
    }
}

/// Whether an access unit is a random access point, and whether the decoded pictures depend on more than their
/// timestamps: the end of a sequence (a following CRA picture loses its leading ones), a broken link, or a command
/// to discard waiting pictures.
fn hevc(data: &[u8], length: usize) -> PacketInfo {
    let mut ends = length == 0 && ends_sequence(data);
    let mut ambiguous = false;
    let mut entry = None;
    for unit in (Units { rest: data, length }) {
        let kind = unit.first().map_or(63, |b| b >> 1 & 63);
        match kind {
            36 | 37 => ends = true,
            0..=31 if entry.is_none() => {
                let irap = (16..=23).contains(&kind);
                entry = Some(irap);
                ambiguous |=
                    (16..=18).contains(&kind) || (irap && unit.get(2).is_some_and(|b| b & 0x40 != 0));
                if length == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    PacketInfo { entry: entry.unwrap_or(false), hidden: false, ambiguous, ends }
}

/// Whether the last unit ends a sequence.
fn ends_sequence(data: &[u8]) -> bool {
    let tail = &data[data.len().saturating_sub(12)..];
    tail.windows(4).any(|w| w[..3] == [0, 0, 1] && matches!(w[3] >> 1, 36 | 37))
}

fn vp9(data: &[u8], key: bool) -> PacketInfo {
    let mut frames = Vec::new();
    if let Some(&marker) = data.last()
        && marker & 0xe0 == 0xc0
    {
        let (count, bytes) = (usize::from(marker & 7) + 1, usize::from(marker >> 3 & 3) + 1);
        let index = 2 + bytes * count;
        if data.len() >= index && data[data.len() - index] == marker {
            let sizes = &data[data.len() - index + 1..data.len() - 1];
            let mut rest = &data[..data.len() - index];
            for size in sizes.chunks(bytes) {
                let size = size.iter().rev().fold(0usize, |n, &b| n << 8 | usize::from(b));
                let Some((frame, more)) = rest.split_at_checked(size) else { break };
                frames.push(frame);
                rest = more;
            }
        }
    }
    if frames.is_empty() {
        frames.push(data);
    }
    let mut shown = 0;
    let mut entry = false;
    for (i, frame) in frames.iter().enumerate() {
        let mut bits = Bits(frame, 2);
        let profile = bits.take(1).unwrap_or(0) | bits.take(1).unwrap_or(0) << 1;
        if profile == 3 {
            bits.take(1);
        }
        let existing = bits.take(1) == Some(1);
        let (inter, show) = (bits.take(1) == Some(1), bits.take(1) == Some(1));
        shown += u32::from(existing || show);
        entry |= i == 0 && !existing && !inter;
    }
    PacketInfo { entry: key && entry, hidden: shown == 0, ambiguous: shown > 1, ends: false }
}

/// Whether a temporal unit begins with a shown key frame.
fn av1_entry(mut data: &[u8]) -> bool {
    while let [head, rest @ ..] = data {
        let (kind, extended, sized) = (head >> 3 & 15, head >> 2 & 1 == 1, head >> 1 & 1 == 1);
        let Some(rest) = rest.get(usize::from(extended)..) else { return false };
        let (size, rest) = if sized {
            let mut size = 0usize;
            let mut used = 0;
            for (i, b) in rest.iter().take(8).enumerate() {
                size |= usize::from(b & 127) << (7 * i);
                used = i + 1;
                if b & 128 == 0 {
                    break;
                }
            }
            (size, &rest[used..])
        } else {
            (rest.len(), rest)
        };
        if kind == 3 || kind == 6 {
            // show_existing_frame 0, frame_type 0, show_frame 1
            return rest.first().is_some_and(|b| b >> 4 == 0b0001);
        }
        let Some(next) = rest.get(size..) else { return false };
        data = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn avc_units() {
        let idr = [0, 0, 0, 1, 9, 16, 0, 0, 0, 1, 0x65, 1, 2];
        assert!(avc_entry(&idr, 0));
        let plain = [0, 0, 1, 0x41, 1, 2];
        assert!(!avc_entry(&plain, 0));
        assert!(Syntax::Avc(0).begins(&idr) && !Syntax::Avc(0).begins(&plain));
        // recovery_frame_cnt 0 is '1', then exact_match_flag
        let exact = [0, 0, 1, 6, 6, 1, 0b1100_0000, 0x80, 0, 0, 1, 0x41, 1];
        let vague = [0, 0, 1, 6, 6, 1, 0b1000_0000, 0x80, 0, 0, 1, 0x41, 1];
        assert!(avc_entry(&exact, 0) && !avc_entry(&vague, 0));
        assert!(avc_entry(&[0, 0, 0, 2, 0x65, 1], 4));
        assert!(!avc_entry(&[0xff, 0xff, 0xff, 0xff, 0x61], 4) && !avc_entry(&[0, 0], 4));
    }

    #[test]
    fn hevc_units() {
        let unit = |kind: u8, third: u8| [0, 0, 1, kind << 1, 1, third, 0, 0, 0, 0, 0, 0, 0];
        let seen = |data: &[u8], length| {
            let info = hevc(data, length);
            (info.entry, info.ambiguous, info.ends)
        };
        assert_eq!(seen(&unit(19, 0x80), 0), (true, false, false));
        assert_eq!(seen(&unit(21, 0x80), 0), (true, false, false));
        assert!(Syntax::Hevc(0).begins(&unit(19, 0x80)) && !Syntax::Hevc(0).begins(&unit(21, 0x80)));
        assert_eq!(seen(&unit(21, 0xc0), 0), (true, true, false));
        assert_eq!(seen(&unit(16, 0x80), 0), (true, true, false));
        assert_eq!(seen(&unit(1, 0x80), 0), (false, false, false));
        let with_end = [0, 0, 0, 3, 2, 1, 0x80, 0, 0, 0, 2, 36 << 1, 1];
        assert_eq!(seen(&with_end, 4), (false, false, true));
        assert!(ends_sequence(&[9, 9, 0, 0, 1, 36 << 1, 1]));
    }

    #[test]
    fn vpx_and_others() {
        let seen = |syntax: Syntax, data: &[u8], key| {
            let info = syntax.inspect(data, key);
            (info.entry, info.hidden, info.ambiguous)
        };
        assert_eq!(seen(Syntax::Vp8, &[0x10], true), (true, false, false));
        assert_eq!(seen(Syntax::Vp8, &[0x01], true), (false, true, false));
        // marker 10, profile 00, existing 0, key 0, show 1
        assert_eq!(seen(Syntax::Vp9, &[0b1000_0010], true), (true, false, false));
        assert_eq!(seen(Syntax::Vp9, &[0b1000_0100], true), (false, true, false));
        let superframe = [0b1000_0100, 0b1000_0110, 0xc1, 1, 1, 0xc1];
        assert_eq!(seen(Syntax::Vp9, &superframe, false), (false, false, false));
        assert!(Syntax::Mpeg2.inspect(&[0, 0, 1, 0, 0, 1 << 3], true).entry);
        assert!(!Syntax::Mpeg2.inspect(&[0, 0, 1, 0, 0, 2 << 3], true).entry);
        assert!(av1_entry(&[0x12, 0, 0x32, 1, 0b0001_0000]));
        assert!(!av1_entry(&[0x12, 0, 0x32, 1, 0b0011_0000]));
    }
}
