//! The open input of a job, its filters, and its requested frames.

use super::bind::{chain_options, target};
use super::limits::check_numbers;
use super::{Endpoints, JobError, OnError, Request, files, preflight};
use crate::pipeline::{FrameList, Reopen};
use grainfield_filters::chain::Chain;
use grainfield_filters::frame::{Format, Frame, Ranges, Spans};
use grainfield_io::disk::cache::Cache;
use grainfield_io::journal::{Cuts, SourceEnds};
use grainfield_io::sink::Output;
use grainfield_io::source::{self, Info, Input, Missing, Slot, Source, SourceError};
use std::sync::Arc;

/// The open input of a job, and the name of its output.
pub(super) struct Opened {
    pub(super) source: Box<dyn Source>,
    /// The properties of the source. For a shard, its last frame is known, unless it is a pipe.
    pub(super) info: Info,
    pub(super) input: Input,
    pub(super) output: Output,
    /// The requested frames, by the user's numbers; `None` for all.
    pub(super) frames: Option<Ranges>,
    /// Whether the source may end before the last of them.
    pub(super) may_end_early: bool,
    options: source::Options,
}

impl Opened {
    pub(super) fn new(
        request: &Request,
        cache: Option<Arc<Cache>>,
        endpoints: &mut dyn Endpoints,
    ) -> Result<Opened, JobError> {
        let (input, output) = (request.parse_input(), request.parse_output()?);
        let options = request.source_options(cache);
        let mut source = input.open(&options)?;
        let mut numbers =
            |spans: &Spans| source::frame_numbers::<JobError>(spans, &mut *source, request.frame_offset);
        let (mut frames, may_end_early) = match request.frames.as_ref().map(&mut numbers).transpose()? {
            Some((ranges, may_end_early)) => (Some(ranges), may_end_early),
            None => (None, false),
        };
        let source = endpoints.source(source, &mut frames)?;
        let info = source.info().clone();
        let mut opened = Opened { source, info, input, output, frames, may_end_early, options };
        if request.shard.is_some() && opened.info.last.is_none() {
            opened.info.last = opened.find_last(request.on_error)?;
        }
        check_numbers(request, opened.frames.as_ref(), &opened.info)?;
        let total = RequestedFrames::new(request, &opened).total;
        opened.output = opened.output.for_frames(total);
        Ok(opened)
    }

    /// The last frame of a source whose length is unknown, found by reading all of it.
    fn find_last(&self, on_error: OnError) -> Result<Option<i64>, JobError> {
        // a pipe can be read once
        if self.input.is_pipe() {
            return Ok(None);
        }
        let mut source = self.input.open(&self.options)?;
        let mut slot = Slot::default();
        let mut last = None;
        loop {
            match source.next(&mut slot) {
                Ok(Some(stamp)) => last = Some(stamp.number),
                Ok(None) => return Ok(last),
                // such a frame is concealed by the decoder, held or left out
                Err(SourceError::Damaged { stamp, .. } | SourceError::Unusable { stamp, .. })
                    if on_error != OnError::Stop =>
                {
                    last = Some(stamp.number);
                }
                Err(SourceError::NoFrame { .. }) if on_error != OnError::Stop => {}
                // the incomplete frame at the end of a cut file is held or left out
                Err(SourceError::Truncated { number, .. }) if on_error != OnError::Stop => {
                    return Ok(if on_error == OnError::Hold { Some(number) } else { last });
                }
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Opens the input once more, for frames that replace damaged ones; `None` if it can be read once.
    pub(super) fn reopen(&self) -> Option<Reopen> {
        let (input, options) = (self.input.clone(), self.options.clone());
        self.info.seekable.then(|| -> Reopen { Box::new(move || input.open(&options)) })
    }

    /// Loads the files and frames that settings name, and binds the filters. Returns also the format of their result
    /// before the conversion to the output's.
    pub(super) fn bind(&self, request: &mut Request) -> Result<(Chain, Format), JobError> {
        let input = request.tagged_format(&self.info.format);
        let mut read = |number| self.read_frame(number, input);
        files::load::<JobError>(request, &self.info, &self.options, &mut read)?;
        let options = chain_options(request, &self.info, &input)?;
        let mut native_format = input;
        let chain = Chain::bind::<JobError>(&request.recipe.steps, input, &options, |native| {
            native_format = *native;
            target(request, &self.output, native)
        })?;
        Ok((chain, native_format))
    }

    /// A frame by the source's number; `None` if the source has none. Opens the input once more.
    fn read_frame(&self, number: i64, format: Format) -> Result<Option<Frame>, JobError> {
        let mut source = self.input.open(&self.options)?;
        source.seek(number)?;
        let mut slot = Slot::default();
        let Some(stamp) = source.next(&mut slot)?.filter(|s| s.number == number) else { return Ok(None) };
        source.decoder().decode(&stamp, &mut slot)?;
        slot.frame.retag(format);
        Ok(Some(slot.frame))
    }

    /// Returns an error for existing files that must not be replaced, and for a gap in a sequence.
    pub(super) fn check_files(
        &mut self,
        request: &Request,
        wanted: Option<&FrameList>,
    ) -> Result<(), JobError> {
        let files = self.source.files();
        preflight::check_existing(request, &self.output, &self.info, wanted, files.as_ref())?;
        if let Some(hole) = preflight::hole(request, &self.info, wanted, files.as_ref()) {
            // the source has the best error message
            self.source.seek(hole)?;
            self.source.next(&mut Slot::default())?;
        }
        Ok(())
    }
}

/// The requested frames, by the user's numbers.
pub(super) struct RequestedFrames {
    /// Cut off at the source's end if that is known; `None` for all.
    pub(super) ranges: Option<Ranges>,
    /// The number of frames, if it is known.
    pub(super) total: Option<u64>,
    /// The number of frames from the source's first to the first requested one.
    pub(super) since_first: i64,
    /// The ends of the source that are requested.
    pub(super) ends: SourceEnds,
    /// Where frames are left out.
    pub(super) cuts: Cuts,
}

impl RequestedFrames {
    pub(super) fn new(request: &Request, opened: &Opened) -> RequestedFrames {
        let info = &opened.info;
        let first = info.first + request.frame_offset;
        let last = info.last.map(|last| last + request.frame_offset);
        let Some(ranges) = &opened.frames else {
            let total = info.last.map(|last| last.abs_diff(info.first) + 1);
            let total = total.filter(|_| request.missing != Missing::Skip);
            let cuts = Cuts::default();
            return RequestedFrames { ranges: None, total, since_first: 0, ends: SourceEnds::BOTH, cuts };
        };
        let ranges = last.map_or_else(|| ranges.clone(), |last| ranges.bounded(last));
        let to_end = ranges.is_unbounded() || last.is_some_and(|last| ranges.max() == Some(last));
        RequestedFrames {
            total: (!ranges.is_unbounded() && !opened.may_end_early).then(|| ranges.count()),
            since_first: ranges.min().map_or(0, |n| n.saturating_sub(first)),
            ends: SourceEnds { first: ranges.min() == Some(first), last: to_end },
            cuts: Cuts::between(&ranges, request.frame_offset),
            ranges: Some(ranges),
        }
    }
}

/// A request whose input is open and whose filters are bound.
pub(super) struct BoundRequest<'a> {
    pub(super) request: &'a Request,
    pub(super) opened: &'a Opened,
    pub(super) chain: &'a Chain,
    pub(super) frames: &'a RequestedFrames,
}
