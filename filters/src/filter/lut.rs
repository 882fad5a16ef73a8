//! `lut`: a look-up table of colours from a `.cube` file.
//!
//! The table maps the picture's R, G and B as values, not as light: a table for log footage needs log footage. YUV goes
//! through R, G and B by its matrix and range. Colours beyond the table's input range get its outermost entries; for
//! integers the results are limited to 0..1, so limited-range video stays legal.

use super::rgb::ThroughRgb;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Spec};
use crate::frame::{Depth, Format, FrameTime, Scratch};
use crate::lut::Lut;
use crate::settings;
use crate::settings::{FileAsset, FileKind, SettingError};
use crate::simd::Level;
use std::sync::Arc;

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<LutSpec>("lut", "Look-up table", "Maps colours by a look-up table (.cube)");

settings! {
    struct LutSpec {
        /// Look-up table (.cube) with one or three dimensions or both; without it nothing changes. Three dimensions
        /// are interpolated tetrahedrally. `opacity` mixes the result with the picture.
        file: Option<FileAsset> = file(FileKind::Lut),
    }
}

impl Spec for LutSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let lut = self.file.as_ref().map(|file| file.require::<Arc<Lut>>().cloned());
        let lut = lut.transpose().map_err(|e| SettingError::new("file", e))?;
        Ok(LutFilter { rgb: ThroughRgb::new(input, level)?, format: *input, lut, level }.boxed())
    }
}

struct LutFilter {
    rgb: ThroughRgb,
    format: Format,
    lut: Option<Arc<Lut>>,
    level: Level,
}

impl Render for LutFilter {
    type Params = Arc<Lut>;
    type State = ();

    fn at(&self, _: &FrameTime) -> Option<(Plan, Arc<Lut>)> {
        let plan =
            Plan { reach: Reach::Rows(self.rgb.reach()), ..Plan::in_place(self.format.color_planes()) };
        Some((plan, self.lut.clone()?))
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: self.rgb.memory() }
    }

    fn render(&self, lut: &Arc<Lut>, (): &(), band: &mut Band<'_>, scratch: &mut Scratch) {
        let clips = self.format.depth != Depth::Float;
        self.rgb.render(band, scratch, |_, _, rows| lut.apply(self.level, clips, rows));
    }
}

#[cfg(test)]
mod tests;
