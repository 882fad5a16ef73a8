//! Measures one frame, on many threads; the [`Accumulator`](super::Accumulator) combines the results in
//! order.

use super::bands::Bands;
use super::boxes;
use super::correlation::{Autocorrelation, Pair, Transform};
use super::normal::Histogram;
use super::peak::{Correlator, Fingerprint};
use super::phases::Phases;
use super::spectrum::{Plan, Spectrum};
use super::{Field, Moments};
use grainfield_filters::frame::{Depth, Family, Format, Frame};
use std::sync::Arc;

/// The largest side of the central part of a picture that is searched for other pictures.
pub const PEAK_SIDE: usize = 1024;
/// The largest number of a plane's samples for the comparison of frames; rows are skipped to stay below it.
const KEPT: usize = 1 << 19;

/// The shared data for frames of one format.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The format of the frames.
    pub format: Format,
    /// The larger depth of the two pictures.
    bits: u8,
    /// Whether there is a clean version.
    twin: bool,
    transform: Transform,
    planes: Vec<PlaneTools>,
}

#[derive(Clone, Debug)]
struct PlaneTools {
    spectrum: Arc<Plan>,
    peak: Arc<Correlator>,
}

/// The measurements of one frame.
#[derive(Debug)]
pub struct Measures {
    pub(super) planes: Vec<PlaneMeasures>,
    /// By planes a < b, in the order 01 02 03 12 13 23, for existing planes.
    pub(super) channels: Vec<Pair>,
}

/// The measurements of one plane.
#[derive(Debug)]
pub(super) struct PlaneMeasures {
    pub(super) moments: Moments,
    pub(super) odd: u64,
    pub(super) histogram: Histogram,
    pub(super) bands: Bands,
    pub(super) spectrum: Spectrum,
    pub(super) auto: Autocorrelation,
    pub(super) phases: Phases,
    pub(super) boxes: [Moments; boxes::SIZES.len()],
    pub(super) fingerprint: Fingerprint,
    pub(super) rows: Vec<f32>,
}

fn bits(format: &Format) -> u8 {
    match format.depth {
        Depth::Bits(n) => n,
        Depth::Float => 16,
    }
}

/// Pairs of planes.
pub(super) fn pairs(planes: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..planes).flat_map(move |a| (a + 1..planes).map(move |b| (a, b)))
}

impl Tools {
    /// For frames of `format`, and clean ones, which may have another depth.
    pub fn new(format: &Format, clean: Option<&Format>) -> Tools {
        let plane = |p| {
            let (w, h) = format.plane_size(p);
            let peak = Arc::new(Correlator::new(w.min(PEAK_SIDE), h.min(PEAK_SIDE)));
            PlaneTools { spectrum: Plan::new(w, h), peak }
        };
        Tools {
            format: *format,
            bits: clean.map_or(0, bits).max(bits(format)),
            twin: clean.is_some(),
            transform: Transform::default(),
            planes: (0..format.planes()).map(plane).collect(),
        }
    }

    /// An upper bound of the memory in bytes for measuring one frame.
    pub fn per_frame(format: &Format) -> usize {
        let samples: usize = (0..format.planes()).map(|p| format.plane_size(p)).map(|(w, h)| w * h).sum();
        samples * 12 + format.planes() * (16 * PEAK_SIDE * PEAK_SIDE + 4 * KEPT + (12 << 20))
    }

    pub(super) fn correlator(&self, p: usize) -> &Correlator {
        &self.planes[p].peak
    }

    /// Empty measurements of plane `p`.
    pub(super) fn empty(&self, p: usize) -> PlaneMeasures {
        PlaneMeasures {
            moments: Moments::default(),
            odd: 0,
            histogram: Histogram::new(self.bits),
            bands: Bands::default(),
            spectrum: Spectrum::new(&self.planes[p].spectrum),
            auto: Autocorrelation::default(),
            phases: Phases::default(),
            boxes: Default::default(),
            fingerprint: Fingerprint::new(),
            rows: Vec::new(),
        }
    }

    /// Measures a frame, or its difference from `clean`. Panics unless `clean` is given exactly if it was announced,
    /// with the same size.
    pub fn measure(&self, frame: &Frame, clean: Option<&Frame>) -> Measures {
        assert_eq!(clean.is_some(), self.twin, "with a twin all the time, or never");
        let luma = luma(clean.unwrap_or(frame));
        let mut planes = Vec::new();
        let mut fields = Vec::new();
        for p in 0..self.format.planes() {
            let own = Field::of(frame, p);
            let mut field = match clean {
                Some(clean) => own.minus(&Field::of(clean, p)),
                None => own,
            };
            let mut m = self.empty(p);
            m.moments = Moments::of(field.data.iter().map(|&v| f64::from(v)));
            m.histogram.add(&field);
            let (x, y) = self.format.plane_subsampling(p);
            let luma = luma.shrunk(x, y);
            if self.twin {
                m.bands.add(&field, &luma);
            } else {
                m.bands.add_blocks(&field, &luma);
            }
            m.odd = field.centre();
            m.spectrum.add(&field);
            m.auto.add(&field, &self.transform);
            m.phases.add(&field);
            m.boxes = boxes::SIZES.map(|(w, h)| boxes::sums(&field, w, h));
            let mut middle = field.middle(PEAK_SIDE, PEAK_SIDE);
            middle.centre();
            m.fingerprint = self.planes[p].peak.fingerprint(&middle, None);
            let every = field.data.len().div_ceil(KEPT);
            m.rows = (0..field.height).step_by(every).flat_map(|y| field.row(y)).copied().collect();
            planes.push(m);
            fields.push(field);
        }
        let channel = |(a, b): (usize, usize)| {
            let mut pair = Pair::default();
            // The finer one is averaged over the other's samples.
            let ((ax, ay), (bx, by)) = (self.format.plane_subsampling(a), self.format.plane_subsampling(b));
            let finer = |f: &Field, (x, y): (u8, u8)| f.shrunk(x, y);
            let one = finer(&fields[a], (bx.saturating_sub(ax), by.saturating_sub(ay)));
            let other = finer(&fields[b], (ax.saturating_sub(bx), ay.saturating_sub(by)));
            pair.add(&one.data, &other.data);
            pair
        };
        let channels = pairs(planes.len()).map(channel).collect();
        Measures { planes, channels }
    }
}

/// Brightness in 8-bit code values: luma, or for RGB the weighted sum of ITU-R BT.709.
fn luma(frame: &Frame) -> Field {
    let first = Field::of(frame, 0);
    if frame.format().family != Family::Rgb {
        return first;
    }
    let (green, blue, red) = (first, Field::of(frame, 1), Field::of(frame, 2));
    let (width, height) = (green.width, green.height);
    let all = green.data.iter().zip(&blue.data).zip(&red.data);
    let data = all.map(|((g, b), r)| 0.7152 * g + 0.0722 * b + 0.2126 * r).collect();
    Field { width, height, data }
}
