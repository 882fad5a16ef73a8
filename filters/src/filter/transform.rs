//! `transform`: pan, zoom, rotation and crop, all of which may move.
//!
//! For every sample of the output the place in the source is found, in fixed-point numbers of 32 fraction bits, and the
//! samples around it are weighed by the kernel: down, rounded to 16 bits, then across. The kernel is as much wider as
//! the picture is made smaller, so that nothing flickers or is skipped. Where nothing is rotated rows and columns are
//! resampled one after the other, with the same weights and rounding. Sine and cosine are taken once a frame. Kernels
//! and rounding are stated in [`crate::pixel::resample`]; alpha moves with the picture.

mod resampler;
#[cfg(test)]
mod tests;

pub(super) use resampler::{Placement, Resampler};

use super::effect::{choice, number, place, weights};
use super::{Band, Entry, Filter, Memory, Plan, Reach, Spec, State};
use crate::frame::{Format, Moment, PlaneSet, Scratch};
use crate::lend::{Host, Stop};
use crate::pixel::resample::{Edge, Shape};
use crate::settings::{Animated, Choice, Kind, Setting, SettingError, Unit, Value, Values};
use crate::simd::Level;

/// The catalog's entry.
pub const ENTRY: Entry = Entry {
    name: "transform",
    label: "Transform",
    help: "Pans, zooms, rotates and crops; all of it may move",
    settings: SETTINGS,
    build,
};

/// The least zoom.
const LEAST: f64 = 0.05;

/// The words for the kernel, for every filter that resamples.
pub(super) const SHAPES: Setting = choice(
    "kernel",
    "Kernel",
    "How samples between samples are made.",
    &[
        Choice { id: "nearest", help: "the nearest sample: hard pixels" },
        Choice { id: "bilinear", help: "straight lines: soft" },
        Choice { id: "bicubic", help: "a cubic (Catmull-Rom): sharp, with hardly a halo" },
        Choice { id: "lanczos", help: "Lanczos with three lobes: sharpest, with faint halos" },
    ],
    "bicubic",
);

/// The words for edges.
pub(super) const EDGES: &[Choice] = &[
    Choice { id: "color", help: "a colour, by `color`" },
    Choice { id: "extend", help: "the outermost samples go on" },
    Choice { id: "mirror", help: "the picture, mirrored" },
    Choice { id: "wrap", help: "the picture again, from the other side" },
];

/// The colour beyond the edges.
pub(super) const COLOR: Setting = Setting {
    id: "color",
    label: "Colour",
    help: "What is beyond the edges with edge=color. Its alpha is what alpha is there.",
    kind: Kind::Colour,
    unit: Unit::None,
    default: Some(Value::Colour(Animated::Constant([0.0, 0.0, 0.0, 1.0]))),
};

const fn crop(id: &'static str, label: &'static str, help: &'static str) -> Setting {
    number(id, label, help, (0.0, 1.0), Unit::Fraction, 0.0)
}

const SETTINGS: &[Setting] = &[
    number(
        "zoom",
        "Zoom",
        "How much larger: 2 is twice as large, 0.5 half. zoom='0=1;100~=1.3' moves slowly in.",
        (LEAST, 100.0),
        Unit::None,
        1.0,
    ),
    place(
        "pan",
        "Pan",
        "How far the picture moves to the right and down, in parts of its width and height: 0.1,0 is a tenth to the \
         right.",
        (-10.0, 10.0),
        [0.0, 0.0],
    ),
    number("rotate", "Rotate", "Turns the picture, clockwise.", (-36000.0, 36000.0), Unit::Degrees, 0.0),
    place(
        "anchor",
        "Anchor",
        "What stays in its place when the picture is zoomed and turned: parts of width and height, 0.5,0.5 is the \
         middle.",
        (-2.0, 3.0),
        [0.5, 0.5],
    ),
    crop(
        "crop-left",
        "Crop left",
        "Cuts off this part of the width on the left; what is cut off is beyond the edge.",
    ),
    crop("crop-right", "Crop right", "Cuts off this part of the width on the right."),
    crop("crop-top", "Crop top", "Cuts off this part of the height above."),
    crop("crop-bottom", "Crop bottom", "Cuts off this part of the height below."),
    SHAPES,
    choice("edge", "Edge", "What is beyond the edges of the picture.", EDGES, "color"),
    COLOR,
];

pub(super) fn read_shape(values: &Values) -> Shape {
    match values.choice("kernel") {
        "nearest" => Shape::Nearest,
        "bilinear" => Shape::Bilinear,
        "lanczos" => Shape::Lanczos,
        _ => Shape::Bicubic,
    }
}

pub(super) fn read_edge(values: &Values) -> Edge {
    match values.choice("edge") {
        "extend" => Edge::Extend,
        "mirror" => Edge::Mirror,
        "wrap" => Edge::Wrap,
        _ => Edge::Color,
    }
}

#[derive(Clone)]
struct TransformSpec {
    zoom: Animated,
    pan: Animated<[f64; 2]>,
    rotate: Animated,
    anchor: Animated<[f64; 2]>,
    crop: [Animated; 4],
    color: Animated<[f64; 4]>,
    shape: Shape,
    edge: Edge,
}

fn build(values: &Values) -> Result<Box<dyn Spec>, SettingError> {
    let crop = ["crop-left", "crop-right", "crop-top", "crop-bottom"].map(|id| values.number(id));
    Ok(Box::new(TransformSpec {
        zoom: values.number("zoom"),
        pan: values.position("pan"),
        rotate: values.number("rotate"),
        anchor: values.position("anchor"),
        crop,
        color: values.colour("color"),
        shape: read_shape(values),
        edge: read_edge(values),
    }))
}

impl Spec for TransformSpec {
    fn bind(&self, input: &Format, _: u64, level: Level) -> Result<Box<dyn Filter>, SettingError> {
        let by =
            Resampler { format: *input, level, shape: self.shape, edge: self.edge, weights: weights(input)? };
        Ok(Box::new(Transform { set: self.clone(), by }))
    }
}

struct Transform {
    set: TransformSpec,
    by: Resampler,
}

/// Sine and cosine of degrees; exact at quarter turns.
fn turn(degrees: f64) -> (f64, f64) {
    match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        a => {
            let a = a * (core::f64::consts::PI / 180.0);
            (libm::sin(a), libm::cos(a))
        }
    }
}

impl Transform {
    fn placement(&self, at: &Moment) -> Placement {
        let format = &self.by.format;
        let size = [f64::from(format.width), f64::from(format.height)];
        let aspect = format.shape();
        let (sin, cos) = turn(self.set.rotate.at(at));
        let scale = 1.0 / self.set.zoom.at(at);
        // Turned back where samples are square.
        let matrix = [[cos * scale, sin * scale / aspect], [-sin * scale * aspect, cos * scale]];
        let (anchor, pan) = (self.set.anchor.at(at), self.set.pan.at(at));
        let anchor = [anchor[0] * size[0], anchor[1] * size[1]];
        let moved = [anchor[0] + pan[0] * size[0], anchor[1] + pan[1] * size[1]];
        let shift = [0, 1].map(|i: usize| anchor[i] - matrix[i][0] * moved[0] - matrix[i][1] * moved[1]);
        // What is the middle in exact numbers must not move by their rounding.
        let same = matrix == Placement::SAME.matrix && pan == [0.0; 2];
        let shift = if same { [0.0; 2] } else { shift };
        Placement { matrix, shift, crop: [0, 1, 2, 3].map(|i: usize| self.set.crop[i].at(at)) }
    }
}

impl Filter for Transform {
    fn output(&self) -> &Format {
        &self.by.format
    }

    fn plan(&self, at: &Moment) -> Plan {
        let placement = self.placement(at);
        if placement == Placement::SAME {
            return Plan::IDLE;
        }
        let writes = PlaneSet(((1u16 << self.by.format.planes()) - 1) as u8);
        Plan { reach: Reach::Whole, state: Some(placement.key()), ..Plan::in_place(writes) }
    }

    fn memory(&self) -> Memory {
        Memory { fixed: 0, per_frame: self.by.memory(1.0 / LEAST + 2.0) }
    }

    fn prepare(&self, at: &Moment, _: Option<State>, host: &Host<'_>) -> Result<State, Stop> {
        host.check()?;
        Ok(self.by.prepare(&self.placement(at)))
    }

    fn render(&self, at: &Moment, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch) {
        self.by.render(&self.placement(at), self.set.color.at(at), state, band, scratch);
    }
}
