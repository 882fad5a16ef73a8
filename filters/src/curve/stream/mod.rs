//! Many tracks played as one stream.
//!
//! After "Low Level Animation, Part 2" of the Bitsquid developer blog: to evaluate a track, the keys on both sides of
//! the time are needed, and the time at which a key is first needed is known in advance: when the stretch before it
//! begins, or earlier for shapes that depend on more keys ([`Smooth`](super::Shape::Smooth) one key,
//! [`BSpline`](super::Shape::BSpline) two). So the keys of all tracks are stored in one stream, sorted by the time at
//! which they are needed. A player keeps one position in the stream and an array of active keys. It plays forward by
//! reading on, at a cost in proportion to the keys that become active, not to all keys. Jump frames (the active array
//! at some times, with the position in the stream) give access to any time, by reading on from the jump frame before
//! it.
//!
//! Hold, linear and Hermite tracks in whole frames need only their newest key. They are played from compact blocks of
//! eight tracks, and only blocks with changing values are evaluated. All other tracks keep the keys that they need.
//!
//! [`write`](write()) writes a stream, [`Tracks`] opens it through a [`ReadAt`](crate::lend::ReadAt) of the host, and a
//! [`Playhead`] holds the values at the time it was moved to, bit-identical to
//! [`Curve::value_at`](super::Curve::value_at). [`reindex`] copies a stream with jump frames at another spacing.
//!
//! # The bytes
//!
//! A `.gfa` file holds these bytes, compressed by the program. Little endian throughout; `f64` as IEEE 754.
//!
//! ```text
//! file    = head { points } { jump } cycles index tail
//! head    = magic (8 bytes, 89 'G' 'F' 'A' 0d 0a 1a 0a), version u32 = 1, unit u32 (0 frames, 1 seconds)
//! chunk   = kind u32, length u32 of the payload, checksum u64 of these 8 bytes and the payload, payload
//! points  = chunk 1: { track u32, key }                 in the order they are needed; ties by track; not split
//! jump    = chunk 2: for each track: rules u8 (before + 16 * after), index u32 of the first key kept,
//!                    number u32 of all keys of the track, current u8 (which of the kept), kept u8, { key };
//!                    of a track that repeats or mirrors the rules alone
//! cycles  = chunk 4: { track u32, rules u8, number u32 of its keys, { key } }   tracks that repeat or mirror, in order
//! index   = chunk 3: { time, place u64 of the jump, place u64 of the chunk to go on with, offset u32 in its payload }
//! tail    = place u64 of the index, place u64 of the cycles, tracks u64, keys u64, checksum u64 of these 32 bytes
//! key     = time, shape u8, value f64, numbers of the shape f64...
//! time    = frame i64, or numerator i64 and denominator i64 of seconds
//! shape   = 0 hold, 1 linear, 2 smooth, 3 B-spline, 4 Hermite (2 slopes), 5 Bezier (2 handles of 2 numbers),
//!           16 + n: the ease whose letter is n places after `a`
//! ```
//!
//! The first jump is the state before all keys. The kept keys of a track begin with the earliest one that the current
//! shape needs or, at the end of a track that is extrapolated, that its last stretch needs. Checksums: `checksum` in
//! `format.rs`.
//!
//! Tracks that repeat or mirror beyond their ends need their old keys again. They are stored whole in a separate chunk,
//! which stays in memory, and are evaluated one by one. Together they may have [`MAX_CYCLE_KEYS`] keys.

mod columns;
mod fast;
mod format;
mod general;
mod play;
mod read;
mod segment_columns;
mod state;
mod stretch;
mod write;

pub use columns::{from_columns, to_columns};
pub use format::{MAX_CYCLE_KEYS, MAX_TRACKS, StreamError, StreamProblem};
pub use play::Playhead;
pub use read::{NamedTracks, Tracks};
pub use write::{TrackError, reindex, write};

#[cfg(test)]
mod tests;
