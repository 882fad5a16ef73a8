//! Files of the program: [states](DiskStateCache) of simulations, and tracks (`.gfa`).
//!
//! A `.gfa` file is the [stream](grainfield_filters::curve::stream) of some tracks, compressed piece by piece, with the
//! tracks' names. It is played from disk: [`PackedReader`] decompresses one piece at a time, so memory does not grow
//! with the file.
//!
//! # The bytes
//!
//! Little endian throughout.
//!
//! ```text
//! file  = head { block } names table tail
//! head  = magic (8 bytes, 89 'G' 'F' 'P' 0d 0a 1a 0a), version u32 = 1
//! block = one piece of the stream (its head, a chunk, its tail), arranged, packed
//! names = the tracks' names with line feeds between them, in UTF-8, packed
//! table = for each block, and then for the names:
//!         place u64, length u32 in the file, length u32 of the piece, checksum u32 of the bytes in the file
//! tail  = place u64 of the table, rows u32 of it, length u64 of the stream, checksum u32 of the table,
//!         checksum u32 of the 24 bytes before
//! ```
//!
//! Arranged: keys field by field and numbers byte by byte, see
//! [`to_columns`](grainfield_filters::curve::stream::to_columns). Packed: DEFLATE (RFC 1951). Checksums: CRC-32 (as in
//! gzip and PNG). The stream also has checksums, so an error in decompression is detected.

mod attach;
mod effect;
pub mod fuzz;
mod grain_table;
mod import;
mod lottie;
mod lottie_layers;
mod pack;
mod plate;
mod state_cache;
mod text_file;
mod tracks;
mod unpack;

pub use attach::one;
pub use attach::{AttachError, AttachProblem, attach};
pub use effect::{load_effect, load_effect_with};
pub use grain_table::load_grain_table;
pub use import::{ImportError, ImportProblem, Table, csv, json, read_samples};
pub use lottie::{LottieError, lottie, to_lottie};
pub use pack::PackedWriter;
pub(crate) use plate::digest as plate_digest;
pub use plate::load_plate;
pub use state_cache::{DiskStateCache, pack as pack_state, unpack as unpack_state};
pub use text_file::TextFileError;
pub use tracks::{TrackFile, TrackFileError, check_name, load_tracks, reindex, write};
pub use unpack::{PackedReader, RandomAccessFile, StoreError, StoreProblem};

const MAGIC: [u8; 8] = *b"\x89GFP\r\n\x1a\n";
/// The version of the format.
pub const VERSION: u32 = 1;
const HEAD_BYTES: u64 = 12;
const ROW_BYTES: u64 = 20;
const TAIL_BYTES: u64 = 28;
/// The largest piece of a stream: a jump frame with the largest number of tracks fits.
const MAX_PIECE: u32 = 128 << 20;
/// The largest number of bytes that rearranging adds to a piece.
const ARRANGED: u32 = 64;
/// The longest name of a track in bytes.
pub const MAX_NAME: usize = 255;
