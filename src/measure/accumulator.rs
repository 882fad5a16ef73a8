//! Combines the measurements of frames.

use super::correlation::Pair;
use super::measure::{Measures, PlaneMeasures, Tools, pairs};
use super::peak::{Fingerprint, PeakReport, Spare};
use std::collections::VecDeque;

/// The number of earlier frames that frames are compared with.
pub(super) const BACK: usize = 8;

/// The sums of all frames so far.
#[derive(Debug)]
pub struct Accumulator {
    pub(super) tools: Tools,
    pub(super) frames: u64,
    pub(super) first: Option<i64>,
    pub(super) last: Option<i64>,
    pub(super) planes: Vec<PlaneSums>,
    pub(super) channels: Vec<Pair>,
}

/// The sums of one plane, and its earlier frames.
#[derive(Debug)]
pub(super) struct PlaneSums {
    pub(super) sums: PlaneMeasures,
    kept: VecDeque<Vec<f32>>,
    pub(super) back: [Pair; BACK],
    opening: Option<Fingerprint>,
    before: Option<Fingerprint>,
    spare: Spare,
    pub(super) peak: Option<PeakReport>,
}

impl Accumulator {
    /// An empty accumulator.
    pub fn new(tools: &Tools) -> Accumulator {
        let planes = tools.format.planes();
        let plane = |p| PlaneSums {
            sums: tools.empty(p),
            kept: VecDeque::new(),
            back: [Pair::default(); BACK],
            opening: None,
            before: None,
            spare: Spare::default(),
            peak: None,
        };
        Accumulator {
            frames: 0,
            first: None,
            last: None,
            planes: (0..planes).map(plane).collect(),
            channels: vec![Pair::default(); pairs(planes).count()],
            tools: tools.clone(),
        }
    }

    /// Adds the measurements of frame `number`. Frames are compared in the order of the calls.
    pub fn add(&mut self, number: i64, measures: Measures) {
        let first = *self.first.get_or_insert(number);
        let before = self.last.replace(number);
        self.frames += 1;
        for (sum, pair) in self.channels.iter_mut().zip(&measures.channels) {
            sum.merge(pair);
        }
        for (p, (sums, m)) in self.planes.iter_mut().zip(measures.planes).enumerate() {
            sums.sums.merge(&m);
            for (pair, rows) in sums.back.iter_mut().zip(&sums.kept) {
                pair.add(rows, &m.rows);
            }
            sums.kept.push_front(m.rows);
            sums.kept.truncate(BACK);
            sums.compare(self.tools.correlator(p), m.fingerprint, first, before, number);
        }
    }
}

impl PlaneMeasures {
    fn merge(&mut self, o: &PlaneMeasures) {
        self.moments.merge(&o.moments);
        self.odd += o.odd;
        self.histogram.merge(&o.histogram);
        self.bands.merge(&o.bands);
        self.spectrum.merge(&o.spectrum);
        self.auto.merge(&o.auto);
        self.phases.merge(&o.phases);
        for (a, b) in self.boxes.iter_mut().zip(&o.boxes) {
            a.merge(b);
        }
    }
}

impl PlaneSums {
    /// Correlates this frame with the first one and the previous one in one transform.
    fn compare(
        &mut self,
        correlator: &super::peak::Correlator,
        own: Fingerprint,
        first: i64,
        before: Option<i64>,
        number: i64,
    ) {
        if let (Some(opening), Some(before)) = (&self.opening, before) {
            let previous = self.before.as_ref();
            let both = match previous {
                // a + ib as one picture: the second one is the imaginary part.
                Some(b) => opening.iter().zip(b).map(|(a, b)| a + b * IMAGINARY).collect(),
                None => opening.clone(),
            };
            let [early, late] = correlator.peaks(&own, &both, &mut self.spare);
            for (frames, peak) in [((first, number), early), ((before, number), late)] {
                // Shifts are those of the later frame relative to the earlier one.
                let (value, sigmas) = (peak.value, peak.sigmas());
                if self.peak.is_none_or(|p| sigmas > p.sigmas) {
                    self.peak = Some(PeakReport { frames, dx: -peak.dx, dy: -peak.dy, value, sigmas });
                }
            }
            self.before = Some(own);
        } else {
            self.opening = Some(own);
        }
    }
}

const IMAGINARY: rustfft::num_complex::Complex<f32> = rustfft::num_complex::Complex { re: 0.0, im: 1.0 };
