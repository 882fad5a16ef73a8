//! What the output loses of the input, and options that have no effect on it.

use super::{JobError, Request};
use crate::pipeline::{Note, NoteCode};
use grainfield_filters::frame::{ColorRange, Depth, Family, Format};
use grainfield_io::source::{Info, Missing};

/// Returns an error for a loss if the request allows none.
pub(super) fn check(request: &Request, lost: &[Note]) -> Result<(), JobError> {
    match lost.first() {
        Some(first) if request.strict => Err(JobError::Strict(first.clone())),
        _ => Ok(()),
    }
}

/// Losses between two formats that the user has not chosen.
pub(super) fn between_formats(from: &Format, to: &Format, is_chosen: bool) -> Vec<Note> {
    let mut list = Vec::new();
    let range = (from.range, to.range) == (ColorRange::Full, ColorRange::Limited);
    if range && from.family != Family::Rgb && to.family != Family::Rgb {
        list.push(
            NoteCode::RangeLost.note("full range becomes limited: the output cannot signal full range"),
        );
    }
    if is_chosen {
        return list;
    }
    if from.has_alpha() && !to.has_alpha() {
        list.push(NoteCode::AlphaLost.note(format!("alpha is lost: the output is {}", to.name())));
    }
    let shallower = match (from.depth, to.depth) {
        (Depth::Bits(a), Depth::Bits(b)) => b < a,
        (Depth::Float, Depth::Bits(_)) => true,
        (_, Depth::Float) => false,
    };
    if shallower {
        list.push(NoteCode::DepthLost.note(format!("depth is lost: {} becomes {}", from.name(), to.name())));
    }
    list
}

/// The names of HDR10 data among the details of a source.
const HDR10: [&str; 2] = ["Mastering display metadata", "Content light level metadata"];

/// Properties of a video besides its pictures that affect how they are displayed.
pub(super) fn without_metadata(info: &Info) -> Vec<Note> {
    let mut list = Vec::new();
    if let Some((_, turn)) = info.details.iter().find(|d| d.0 == "rotation") {
        list.push(
            NoteCode::RotationLost
                .note(format!("rotation is lost ({turn}): the output stores pictures only")),
        );
    }
    if info.details.iter().any(|d| HDR10.contains(&&*d.0)) {
        list.push(NoteCode::NotHeld.note("HDR10 data is lost: the output stores pictures only"));
    }
    if info.variable_rate {
        list.push(NoteCode::TimesLost.note(format!(
            "timestamps are lost: the frame rate of {} varies, but the output has the constant rate {}",
            info.name, info.format.rate
        )));
    }
    list
}

/// Options for inputs that have no effect on this input.
pub(super) fn unused_options(request: &Request, info: &Info) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(rate) = request.rate.filter(|rate| *rate != info.format.rate) {
        let source_rate = info.format.rate;
        notes.push(format!(
            "{}: the rate {rate} is not used, because the input has the rate {source_rate}",
            info.name
        ));
    }
    if request.missing != Missing::Error && !info.kind.starts_with("image") {
        notes.push(format!(
            "{}: the choice for missing frames is not used, because the input is not a sequence of images",
            info.name
        ));
    }
    notes
}
