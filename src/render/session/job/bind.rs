//! Binds the filters of a request to its input and its output.

use super::{Fields, JobError, OutputTransfer, Request, RequestError};
use grainfield_filters::chain;
use grainfield_filters::filter::convert::retarget;
use grainfield_filters::frame::{Format, Parity};
use grainfield_filters::simd::{Isa, Level};
use grainfield_io::sink::Output;
use grainfield_io::source::{Info, raw};

/// The options of a chain for an input.
pub(crate) fn chain_options(
    request: &Request,
    info: &Info,
    input: &Format,
) -> Result<chain::Options, JobError> {
    Ok(chain::Options {
        seed: request.recipe.seed.unwrap_or(0),
        level: level(request.level)?,
        first: info.first + request.frame_offset,
        last: info.last.map(|n| n + request.frame_offset),
        fields: fields(request.fields, input),
    })
}

fn level(wanted: Option<Isa>) -> Result<Level, JobError> {
    let best = Level::best();
    let Some(isa) = wanted else { return Ok(best) };
    Ok(Level::of(isa).ok_or(RequestError::Level { wanted: isa, best })?)
}

fn fields(wanted: Fields, input: &Format) -> chain::Fields {
    match (wanted, chain::Fields::of(input.fields)) {
        (Fields::Frame, _) => chain::Fields::Frame,
        (Fields::Field, chain::Fields::Frame) => chain::Fields::First(Parity::Top),
        (_, fields) => fields,
    }
}

/// The output format for the filters' result, with the user's transfer.
///
/// # Errors
/// [`JobError`] if the output cannot hold the samples.
pub fn target(request: &Request, output: &Output, native: &Format) -> Result<Format, JobError> {
    let format = samples(request, output, native)?;
    Ok(match request.transfer.output {
        OutputTransfer::Auto => format,
        OutputTransfer::Passthrough => Format { transfer: native.transfer, ..format },
        OutputTransfer::As(transfer) => Format { transfer, ..format },
    })
}

fn samples(request: &Request, output: &Output, native: &Format) -> Result<Format, JobError> {
    let Some(name) = &request.pix_fmt else {
        return Ok(output.accepts(native, &request.encoding)?);
    };
    let wanted = retarget(native, &raw::planar(name).unwrap_or_else(|_| name.clone()))?;
    let accepted = output.accepts(&wanted, &request.encoding)?;
    if accepted.name() != wanted.name() {
        let output = request.output.to_string_lossy().into_owned();
        let (sx, sy) = wanted.subsampling;
        let is_odd = wanted.width % (1 << sx) != 0 || wanted.height % (1 << sy) != 0;
        let size = format!(
            " of {}x{} (crop or pad it to multiples of {} by {})",
            wanted.width,
            wanted.height,
            1 << sx,
            1 << sy
        );
        let (wanted, nearest) = (wanted.name() + if is_odd { &size } else { "" }, accepted.name());
        return Err(RequestError::PixFmt { output, wanted, nearest }.into());
    }
    Ok(accepted)
}
