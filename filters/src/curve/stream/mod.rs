//! Many tracks played as one stream.
//!
//! After "Low Level Animation, Part 2" of the Bitsquid developer blog: to evaluate a track, the keys on both sides of
//! the time are needed. A key is needed from the time of the key before it. So the keys of all tracks are stored in one
//! stream, sorted by the time at which they are needed. A player keeps one position in the stream and the two active
//! keys of each track. It plays forward by reading on, at a cost in proportion to the keys that become active, not to
//! all keys. Jump frames (the active keys of all tracks at some times) stand in the stream at their times; playback
//! skips them. Any time is reached by reading on from the jump frame before it.
//!
//! Smooth and B-spline segments depend on more than two keys. Their keys carry the slopes or coefficients, which the
//! writer computes.
//!
//! [`write`](write()) writes a stream, [`Tracks`] opens it through a [`ReadAt`](crate::host::ReadAt) of the host, and a
//! [`Playhead`] holds the values at the time it was moved to, bit-identical to
//! [`Curve::value_at`](super::Curve::value_at). [`reindex`] copies a stream with jump frames at another spacing.
//!
//! # The bytes
//!
//! A `.gfa` file holds these bytes. Little endian throughout; `f64` as IEEE 754.
//!
//! ```text
//! file    = head jump { points | jump } cycles names index tail
//! head    = magic (8 bytes, 89 'G' 'F' 'P' 0d 0a 1a 0a), version u32 = 2
//! chunk   = kind u32, length u32 of the content, length u32 of the compressed content,
//!           CRC-32 u32 of these 12 bytes and the compressed content, content compressed with DEFLATE (RFC 1951)
//! points  = chunk 1: { track u32, key | end }    in the order in which they are needed; ties by track, then by key;
//!                    at most 65,600 bytes
//! jump    = chunk 2: for each track: rules u8 (before + 16 * after), key before | end, key after | end,
//!                    slope f64 of the extrapolation if one of the keys is missing;
//!                    of a track that repeats or mirrors the rules alone
//! cycles  = chunk 4: { track u32, rules u8, number u32 of its keys, { key } }   tracks that repeat or mirror, in order
//! names   = chunk 5: the names of the tracks with line feeds between them, in UTF-8
//! index   = chunk 3: { time, place u64 of the jump }
//! tail    = place u64 of the cycles, tracks u64, keys u64, unit u32 (0 frames, 1 seconds),
//!           MD5 of all bytes before it (16 bytes), CRC-32 u32 of the tail before it
//! key     = shape u8, time, value f64, numbers of the shape f64...
//! end     = 255 u8     in place of the key after the last one (or, in a jump frame, before the first)
//! time    = frame i64, or numerator i64 and denominator i64 of seconds
//! shape   = 0 hold, 1 linear, 2 smooth (2 slopes), 3 B-spline (4 coefficients), 4 Hermite (2 slopes),
//!           5 Bezier (2 handles of 2 numbers), 16 + n: the ease whose letter is n places after `a`
//! ```
//!
//! The first jump frame is the state before all keys.
//!
//! Tracks that repeat or mirror beyond their ends need their old keys again. They are stored whole in a separate chunk,
//! which stays in memory, and are evaluated one by one. Together they may have [`MAX_CYCLE_KEYS`] keys.

mod format;
mod key;
mod play;
mod read;
mod segments;
mod state;
mod write;

pub use format::{MAX_CYCLE_KEYS, MAX_NAME, MAX_TRACKS, StreamError, StreamProblem, VERSION, check_name};
pub use play::Playhead;
pub use read::Tracks;
pub use write::{TrackError, reindex, write};

#[cfg(test)]
mod tests;
