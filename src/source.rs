//! Inputs: what a name means, one table ([`open`]).

pub use crate::format::{pattern, sequence::source as sequence, y4m};
pub use crate::media::source::*;

use crate::disk::{Place, same};
use crate::format::images;
#[cfg(feature = "ffmpeg")]
use crate::format::video;
use std::ffi::OsStr;
use std::path::Path;

/// The files that an input is read from: all those of a sequence, what stands behind a protocol (`file:`, `concat:`),
/// and what a playlist names. An input that is not there is read from nothing.
pub fn reads(input: &OsStr) -> Vec<Place> {
    let path = Path::new(input);
    if input == "-" {
        return vec![Place::Input];
    }
    if input.as_encoded_bytes().starts_with(b"pattern:") {
        return Vec::new();
    }
    let mut all = if sequence::recognises(input) {
        images::files::find(input).map_or_else(|_| Vec::new(), |f| (0..f.len()).map(|i| f.path(i)).collect())
    } else if path.exists() {
        vec![path.to_path_buf()]
    } else {
        same::inside(input)
    };
    if let [one] = &all[..] {
        all.extend(same::listed(one));
    }
    all.into_iter().map(Place::Path).collect()
}

/// Opens whatever `input` names: `-` (a y4m stream or any other on standard input), `pattern:...`, an image or image
/// sequence, a y4m file, or any other video.
pub fn open(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    let source = by_kind(input, options)?;
    let info = source.info();
    if options.lavfi.is_some() && info.kind != VIDEO {
        let problem = format!(
            "--lavfi is for video that FFmpeg reads, and this is read without it ({}): give filters of our own by -f, or \
             let FFmpeg filter: ffmpeg -i INPUT -vf GRAPH -f yuv4mpegpipe - | grainfield render - OUTPUT",
            info.kind
        );
        return Err(SourceError::Usage { name: info.name.clone(), problem });
    }
    Ok(source)
}

fn by_kind(input: &OsStr, options: &Options) -> Result<Box<dyn Source>, SourceError> {
    if input.as_encoded_bytes().starts_with(b"pattern:") {
        return pattern::open(input, options);
    }
    if input != "-" && sequence::recognises(input) {
        return sequence::open(input, options);
    }
    #[cfg(feature = "ffmpeg")]
    {
        video::open(input, options)
    }
    #[cfg(not(feature = "ffmpeg"))]
    {
        y4m::open(input, options)
    }
}
