//! Runs the measurements on whole inputs: a source that delivers the clean picture along with the noisy one,
//! and a sink that measures. The pipeline between them is that of any render, so reading, filtering and
//! measuring run in parallel.

use super::{Accumulator, Measures, Report, Tools};
use crate::session::Render;
use crate::session::job::{Collector, Endpoints, FirstFrames, JobError, Request};
use grainfield_filters::frame::{Format, Frame, Ranges};
use grainfield_filters::host::lock;
use grainfield_io::sink::{self, Encode, Sink, SinkError};
use grainfield_io::source::{self, Decode, FrameStamp, Info, Slot, Source, SourceError};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::sync::{Arc, Mutex};

/// The number of frames measured by default.
pub const DEFAULT_FRAMES: i64 = 24;

/// The reason why a request cannot be measured.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AnalyzeError {
    /// Both inputs are standard input.
    #[error("the noisy and the clean input cannot both be standard input")]
    BothPipes,
    /// The clean picture has another size or other planes.
    #[error(
        "{} is {} and cannot be compared with {}: size and planes must be equal (the depth may differ)",
        .clean.0, shape_text(&.clean.1), shape_text(.noisy)
    )]
    Different {
        /// The name and the format of the clean input.
        clean: (String, Format),
        /// The format of the measured frames.
        noisy: Format,
    },
}

fn shape_text(format: &Format) -> String {
    format!("{}x{} {}", format.width, format.height, format.name())
}

impl From<AnalyzeError> for JobError {
    fn from(error: AnalyzeError) -> JobError {
        JobError::Endpoints(error.into())
    }
}

/// Receives the report of a job.
#[derive(Clone, Debug, Default)]
pub struct ReportHandle(Arc<Mutex<Option<Accumulator>>>);

impl ReportHandle {
    /// The report on the frames measured so far; `None` before the job has been prepared.
    pub fn report(&self) -> Option<Report> {
        lock(&self.0).as_ref().map(Accumulator::report)
    }
}

/// Prepares a render that measures the result of the request's filters (the output of the request is ignored): the
/// difference from `clean` if it is given, with frames paired in order; else the difference that the filters make, if
/// there are any; else the picture itself.
///
/// If the request names no frames, the first [`DEFAULT_FRAMES`] are measured.
///
/// # Errors
/// [`AnalyzeError::BothPipes`].
pub fn prepare(
    mut request: Request,
    clean: Option<OsString>,
    report_handle: &ReportHandle,
) -> Result<Render, JobError> {
    if clean.as_ref().is_some_and(|c| c == "-") && request.input == "-" {
        return Err(AnalyzeError::BothPipes.into());
    }
    request.output = "null:".into();
    let options = source::Options {
        rate: request.rate,
        missing: request.missing,
        allow_protocol: request.allow_protocol.clone(),
        stop: Arc::clone(request.cancel.flag()),
        ..Default::default()
    };
    let reference = match clean {
        Some(name) => Reference::Other(name, options),
        None if request.recipe.steps.is_empty() => Reference::None,
        None => Reference::Itself,
    };
    let offset = request.frame_offset;
    let report_handle = report_handle.clone();
    Ok(Render::between(request, Measured { reference, offset, clean: None, report_handle }))
}

/// The reference of the measurement.
enum Reference {
    None,
    Itself,
    Other(OsString, source::Options),
}

struct Measured {
    reference: Reference,
    offset: i64,
    /// The name and format of the clean picture, after it has been opened.
    clean: Option<(String, Format)>,
    report_handle: ReportHandle,
}

impl Endpoints for Measured {
    fn source(
        &mut self,
        noisy: Box<dyn Source>,
        frames: &mut Option<Ranges>,
    ) -> Result<Box<dyn Source>, JobError> {
        let mut info = noisy.info().clone();
        let mut left = None;
        if frames.is_none() {
            let last = info.first + DEFAULT_FRAMES - 1;
            match info.last {
                Some(end) if end > last => {
                    *frames = Ranges::span(info.first + self.offset, last + self.offset).ok();
                    info.notes.push(format!(
                        "measuring the first {DEFAULT_FRAMES} of {} frames; a range of frames selects others",
                        end - info.first + 1
                    ));
                }
                Some(_) => {}
                None => {
                    left = Some(DEFAULT_FRAMES);
                    info.notes.push(format!(
                        "measuring at most the first {DEFAULT_FRAMES} frames; a range of frames selects others"
                    ));
                }
            }
        }
        let clean = match &self.reference {
            Reference::None => None,
            Reference::Itself => {
                self.clean = Some((info.name.clone(), info.format));
                None
            }
            Reference::Other(name, options) => {
                let clean = source::open(name, options)?;
                let other = clean.info();
                info.notes.extend(other.notes.iter().map(|n| format!("{}: {n}", other.name)));
                if other.format.full_range() != info.format.full_range() {
                    info.notes.push(format!(
                        "{} and {} have different ranges: code values are compared as stored",
                        info.name, other.name
                    ));
                }
                self.clean = Some((other.name.clone(), other.format));
                Some(Other { at: Some(other.first), source: clean })
            }
        };
        let itself = matches!(self.reference, Reference::Itself);
        Ok(Box::new(Paired { noisy: FirstFrames { info, source: noisy, left }, clean, itself }))
    }

    fn sink(&mut self, _: &sink::Output, plan: &sink::Plan) -> Result<Box<dyn Sink>, JobError> {
        let (format, clean) = (&plan.format, &self.clean);
        let shape = |f: &Format| (f.width, f.height, f.family, f.subsampling, f.has_alpha());
        let different = clean.as_ref().filter(|c| shape(&c.1) != shape(format));
        if let Some((name, other)) = different {
            return Err(AnalyzeError::Different { clean: (name.clone(), *other), noisy: *format }.into());
        }
        let tools = Tools::new(format, clean.as_ref().map(|c| &c.1));
        *lock(&self.report_handle.0) = Some(Accumulator::new(&tools));
        let encoder = Arc::new(Measuring { tools, done: Mutex::default() });
        let (measuring, report_handle) = (Arc::clone(&encoder), self.report_handle.clone());
        let write = move |number| {
            let measures = measuring.take(number);
            if let (Some(accumulator), Some(measures)) = (lock(&report_handle.0).as_mut(), measures) {
                accumulator.add(number, measures);
            }
        };
        Ok(Box::new(Collector { encoder, write }))
    }

    fn per_frame(&self, output: &Format) -> usize {
        Tools::per_frame(output) + output.frame_bytes()
    }
}

/// Combines two sources: the clean picture is attached to the noisy one's stamp.
struct Paired {
    noisy: FirstFrames,
    clean: Option<Other>,
    itself: bool,
}

struct Other {
    source: Box<dyn Source>,
    /// The index of the next frame, unless reading was interrupted.
    at: Option<i64>,
}

/// A clean picture that was read but perhaps not decoded yet.
struct Waiting(Mutex<(FrameStamp, Slot)>);

/// A clean picture.
struct Clean(Frame);

impl Source for Paired {
    fn info(&self) -> &Info {
        self.noisy.info()
    }

    fn seek(&mut self, number: i64) -> Result<(), SourceError> {
        self.noisy.seek(number)
    }

    fn next(&mut self, slot: &mut Slot) -> Result<Option<FrameStamp>, SourceError> {
        let Some(mut stamp) = self.noisy.next(slot)? else { return Ok(None) };
        if let Some(clean) = &mut self.clean {
            let info = self.noisy.info();
            let place = stamp.number - info.first;
            let other = clean.next(place)?.ok_or_else(|| SourceError::Bad {
                name: clean.source.info().name.clone(),
                problem: format!(
                    "has no frame {} to compare with frame {} of {}: select frames that both have",
                    place + clean.source.info().first,
                    stamp.number,
                    info.name
                ),
            })?;
            stamp.carried = Some(Arc::new(Waiting(Mutex::new(other))));
        }
        Ok(Some(stamp))
    }

    fn decoder(&self) -> Arc<dyn Decode> {
        Arc::new(PairedDecode {
            noisy: self.noisy.decoder(),
            clean: self.clean.as_ref().map(|c| c.source.decoder()),
            itself: self.itself,
        })
    }
}

impl Other {
    /// The frame at an index, counted from the first; `None` after the end.
    fn next(&mut self, place: i64) -> Result<Option<(FrameStamp, Slot)>, SourceError> {
        let info = self.source.info();
        let number = info.first + place;
        if info.last.is_some_and(|last| number > last) {
            return Ok(None);
        }
        if self.at != Some(number) {
            self.at = None;
            self.source.seek(number)?;
        }
        let mut slot = Slot::default();
        let stamp = self.source.next(&mut slot)?;
        self.at = stamp.as_ref().map(|s| s.number + 1);
        Ok(stamp.filter(|s| s.number == number).map(|s| (s, slot)))
    }
}

struct PairedDecode {
    noisy: Arc<dyn Decode>,
    clean: Option<Arc<dyn Decode>>,
    itself: bool,
}

impl Decode for PairedDecode {
    fn decode(&self, stamp: &FrameStamp, slot: &mut Slot) -> Result<(), SourceError> {
        self.noisy.decode(stamp, slot)?;
        slot.carried = None;
        let waiting = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<Waiting>());
        if self.itself {
            slot.carried = Some(Arc::new(Clean(slot.frame.clone())));
        } else if let (Some(decoder), Some(waiting)) = (&self.clean, waiting) {
            let (stamp, clean) = &mut *lock(&waiting.0);
            decoder.decode(stamp, clean)?;
            slot.carried = Some(Arc::new(Clean(std::mem::take(clean).frame)));
        }
        Ok(())
    }
}

/// Measures frames on many threads.
struct Measuring {
    tools: Tools,
    /// Measures that wait for earlier frames.
    done: Mutex<BTreeMap<i64, VecDeque<Measures>>>,
}

impl Measuring {
    /// The measures of a frame, once for each time that it was measured.
    fn take(&self, number: i64) -> Option<Measures> {
        let mut done = lock(&self.done);
        let measures = done.get_mut(&number).and_then(VecDeque::pop_front);
        if done.get(&number).is_some_and(VecDeque::is_empty) {
            done.remove(&number);
        }
        measures
    }
}

impl Encode for Measuring {
    fn encode(&self, stamp: &FrameStamp, frame: &Frame, _: &mut Vec<u8>) -> Result<(), SinkError> {
        let clean = stamp.carried.as_ref().and_then(|c| c.downcast_ref::<Clean>());
        let measures = self.tools.measure(frame, clean.map(|c| &c.0));
        lock(&self.done).entry(stamp.number).or_default().push_back(measures);
        Ok(())
    }
}
