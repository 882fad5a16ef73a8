//! Files that recipes name (tracks, effects, look-up tables, grain plates and tables, Lottie), and [states](DiskStateCache) of
//! simulations.
//!
//! A `.gfa` file is a [stream](grainfield_filters::curve::stream) of tracks. It is played from disk, one chunk at a time,
//! so memory does not grow with the file.

mod attach;
mod clip;
mod effect;
mod font;
mod grain_table;
mod import;
mod looks;
mod lottie;
mod lottie_layers;
mod lut;
mod plate;
mod state_cache;
mod text_file;
mod tracks;

pub use attach::one;
pub use attach::{AttachError, AttachProblem, attach, no_track};
pub use clip::load_clip;
pub use effect::{load_effect, load_effect_with};
pub use font::load_font;
pub use grain_table::load_grain_table;
pub use grainfield_filters::forms::looks::{BUILT_IN, about, built_in, short_name};
pub use import::{ImportError, ImportProblem, Table, csv, json, read_samples};
pub use looks::own_looks;
pub use lottie::{LottieError, lottie, to_lottie};
pub use lut::load_lut;
pub use plate::load_plate;
pub use state_cache::{DiskStateCache, pack as pack_state, unpack as unpack_state};
pub use text_file::{TextFileError, read_text};
pub use tracks::{TrackFileError, load_tracks, open_tracks, reindex, write};
