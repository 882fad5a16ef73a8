//! The pictures of a second input, as R, G and B of the size of the first.

use super::convert::{self, multiply};
use super::scale;
use super::{Band, Filter};
use crate::frame::{
    Alpha, ClipDetails, Format, Frame, FrameRef, FrameTime, PictureStructure, PlaneSet, Scratch, SecondInput,
};
use crate::host::PrepareError;
use crate::pixel::resample::InterpolationKernel;
use crate::ratio::Ratio;
use crate::simd::Level;
use std::sync::Arc;

/// A second input whose pictures become float R, G and B (planes G, B, R and alpha, by which they are multiplied) with
/// the size of the source's frames. Matrix and range are converted; transfer and primaries are taken to be the source's.
pub(super) struct Second {
    input: Arc<dyn SecondInput>,
    /// The format of its pictures.
    own: Format,
    /// The conversions of one of its pictures, each with the format of the result.
    steps: Conversion,
    /// The format of the result after its colours are multiplied by its alpha.
    products: Format,
    /// Resamples that to [`format`](Second::format), if it has another size.
    scale: Option<Box<dyn Filter>>,
    format: Format,
    /// The rate of the source.
    rate: Ratio,
    /// The numbers of its files, if those of the source are paired with them, and what the frame's number has more.
    numbers: Option<(i64, i64)>,
    offset: i64,
    level: Level,
}

impl Second {
    /// # Errors
    /// The colours of the input have no linear matrix.
    pub(super) fn new(input: Arc<dyn SecondInput>, source: &Format, level: Level) -> Result<Second, String> {
        let own = Format { picture: PictureStructure::Frame, ..input.format()? };
        let steps = to_rgb(&own, level)?;
        let products = own.float_rgb(Alpha::Premultiplied);
        let format = Format { width: source.width, height: source.height, ..products };
        let scale = (products != format)
            .then(|| scale::bind(&products, &format, InterpolationKernel::Bicubic, level))
            .transpose()
            .map_err(|e| e.to_string())?;
        let rate = source.rate;
        Ok(Second { input, own, steps, products, scale, format, rate, numbers: None, offset: 0, level })
    }

    /// Pairs the files of two image sequences whose numbers overlap by these numbers.
    #[must_use]
    pub(super) fn paired(self, source: Option<&Arc<ClipDetails>>) -> Second {
        let overlap = |((a, b), (from, to)): ((i64, i64), (i64, i64))| a <= to && from <= b;
        let files = source.and_then(|source| source.numbers);
        let numbers = self.input.numbers().filter(|own| files.is_some_and(|files| overlap((*own, files))));
        Second { numbers, offset: source.map_or(0, |source| source.offset), ..self }
    }

    /// Whether there is only one picture.
    pub(super) fn is_still(&self) -> bool {
        self.input.end(self.rate).is_none()
    }

    /// The length in seconds; `None` for a single picture.
    pub(super) fn end(&self) -> Option<Ratio> {
        self.input.end(self.rate)
    }

    /// The format of [`picture`](Second::picture).
    pub(super) fn format(&self) -> &Format {
        &self.format
    }

    /// The second input.
    pub(super) fn input(&self) -> &dyn SecondInput {
        &*self.input
    }

    /// The format of its own pictures.
    pub(super) fn input_format(&self) -> &Format {
        &self.own
    }

    /// The place of the picture that is shown at a time of the second input.
    pub(super) fn place(&self, time: Ratio) -> i64 {
        self.input.place(time, self.rate)
    }

    /// The place of the picture for a frame of the source; both fields of a frame show the same.
    pub(super) fn place_at(&self, at: &FrameTime) -> i64 {
        let frame = at.whole_frame();
        match self.numbers {
            Some(_) => frame.frame.floor().saturating_sub(self.offset),
            None => self.place(frame.time),
        }
    }

    /// An upper bound of the bytes that a picture takes.
    pub(super) fn memory(&self) -> usize {
        let own = &self.own;
        let size = [(own.width, self.format.width), (own.height, self.format.height)];
        let [w, h] = size.map(|(a, b)| a.max(b) as usize);
        3 * 4 * 4 * (w + 16) * h
    }

    /// The picture at a place.
    pub(super) fn picture(&self, place: i64) -> Result<Frame, PrepareError> {
        if let Some((first, last)) = self.numbers.filter(|(first, last)| !(first..=last).contains(&&place)) {
            return Err(PrepareError::Failed(format!(
                "the second input has no picture {place}, only {first} to {last}, which belong to the files of the \
                 source with the same numbers: limit the filter by enable, or give the missing pictures"
            )));
        }
        let read = self.input.picture(place).map_err(PrepareError::Failed)?;
        // A host's pictures may differ in their tags.
        let own = Format { picture: PictureStructure::Frame, ..*Frame::format(&read) };
        let steps = (own != self.own).then(|| to_rgb(&own, self.level)).transpose();
        let steps = steps.map_err(PrepareError::Failed)?;
        let mut frame = converted(steps.as_ref().unwrap_or(&self.steps), &read);
        if frame.format().alpha == Alpha::Straight {
            let mut rows = frame.as_mut();
            let [planes @ .., alpha] = rows.planes_mut();
            for plane in planes {
                plane.rows().for_each(|y| multiply(plane.row_mut(y), alpha.row_mut(y), true));
            }
        }
        frame.retag(self.products);
        Ok(match &self.scale {
            Some(scale) => apply(&**scale, &frame, &self.format),
            None => frame,
        })
    }
}

/// The conversions of pictures to R, G and B; those without alpha are opaque.
fn to_rgb(own: &Format, level: Level) -> Result<Conversion, String> {
    conversion(own, &own.float_rgb(if own.has_alpha() { own.alpha } else { Alpha::Premultiplied }), level)
}

/// Filters of one picture after the other, each with the format of its result.
pub(super) type Conversion = Vec<(Box<dyn Filter>, Format)>;

/// The conversion of whole frames.
///
/// # Errors
/// The formats have no linear conversion.
pub(super) fn conversion(from: &Format, to: &Format, level: Level) -> Result<Conversion, String> {
    let (mut from, mut steps) = (*from, Vec::new());
    for to in convert::path(&from, to).map_err(|e| e.to_string())? {
        steps.push((convert::bind(&from, &to, level).map_err(|e| e.to_string())?, to));
        from = to;
    }
    Ok(steps)
}

/// The frame after a conversion.
pub(super) fn converted(steps: &Conversion, frame: &Frame) -> Frame {
    let mut result: Option<Frame> = None;
    for (filter, to) in steps {
        result = Some(apply(&**filter, result.as_ref().unwrap_or(frame), to));
    }
    result.unwrap_or_else(|| frame.clone())
}

/// The rows of a picture that belong to a frame or field.
pub(super) fn part<'a>(picture: &'a Frame, of: &Format) -> FrameRef<'a> {
    match of.picture {
        PictureStructure::Frame => picture.as_ref(),
        PictureStructure::Field(parity) => picture.as_ref().field(parity),
    }
}

/// Runs a filter without state on a whole picture.
fn apply(filter: &dyn Filter, from: &Frame, to: &Format) -> Frame {
    let at = FrameTime::of_frame(0, Ratio::ONE);
    let Some(now) = filter.at(&at) else { return from.clone() };
    let rows = 0..to.plane_size(0).1;
    let in_place = now.plan.reach == super::Reach::InPlace;
    let mut output = if in_place { from.clone() } else { Frame::new(*to) };
    output.retag(*to);
    let input = (!in_place).then(|| from.as_ref());
    let mut band = Band { rows, input, output: output.as_mut(), writes: PlaneSet::ALL };
    filter.render(&now, None, &mut band, &mut Scratch::default());
    output
}
