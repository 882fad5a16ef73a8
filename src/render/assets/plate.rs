//! Grain of plates, from clips and pictures.

use super::TextFileError;
use grainfield_filters::plate::{Plate, PlateBuilder};
use grainfield_io::source::{self, Options, Slot, SourceError};
use std::path::Path;

/// Reads grain from a clip, a sequence or a picture of any format, and returns it with a 128-bit digest: the MD5 of its
/// tiles, first byte highest. Pictures after the last that is needed are not read.
///
/// # Errors
/// [`TextFileError`] if the file cannot be read, or has no usable grain.
pub fn load_plate(path: &Path) -> Result<(Plate, u128), TextFileError> {
    let says =
        |problem: &dyn std::fmt::Display| TextFileError::Says(format!("{}: {problem}", path.display()));
    let named = |e: SourceError| match e {
        SourceError::Io { cause, .. } => TextFileError::Read { path: path.into(), cause },
        e => TextFileError::Says(e.to_string()),
    };
    let mut source = source::open(path.as_os_str(), &Options::default()).map_err(named)?;
    let mut builder = PlateBuilder::new(&source.info().format).map_err(|e| says(&e))?;
    let (decoder, mut slot) = (source.decoder(), Slot::default());
    while !builder.is_full() {
        let Some(stamp) = source.next(&mut slot).map_err(named)? else { break };
        decoder.decode(&stamp, &mut slot).map_err(named)?;
        builder.add(&slot.frame).map_err(|e| says(&e))?;
    }
    let plate = builder.finish().map_err(|e| says(&e))?;
    let digest = plate.digest();
    Ok((plate, digest))
}
