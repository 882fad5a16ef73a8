//! Selects the frames and reads them in order.

use super::{FrameError, OnError};
use grainfield_filters::ratio::Ratio;
use grainfield_io::journal::FrameList;
use grainfield_io::media::{FrameStamp, Slot, Source, SourceError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The source, and the frames to read.
pub struct Plan {
    /// The open source.
    pub source: Box<dyn Source>,
    /// The requested frames, by the user's numbers (after the offset); `None` for all, first to last.
    pub wanted: Option<FrameList>,
    /// Added to the source's frame numbers.
    pub offset: i64,
    /// The number of frames, if it is known.
    pub total: Option<u64>,
    /// Whether all frames to the source's end are requested: then it must end without an error after the last
    /// frame.
    pub to_end: bool,
    /// Whether the source may end before the last frame of a list.
    pub may_end_early: bool,
}

/// The reading end: a source, and the remaining frame numbers.
pub(super) struct Input {
    source: Box<dyn Source>,
    wanted: Option<Box<dyn Iterator<Item = i64> + Send>>,
    offset: i64,
    /// The source's next frame number, unless reading was interrupted.
    at: Option<i64>,
    last: Option<i64>,
    /// The last frame, as the source said before it was read.
    promised: Option<i64>,
    /// Whether a range ends with the source.
    open: bool,
    /// Whether an earlier run has rendered frames: there may be none left.
    resumed: bool,
    ended: bool,
    to_end: bool,
    on_error: OnError,
    /// Set when the user cancels.
    cancelled: Arc<AtomicBool>,
    /// Reports about data without a picture.
    notes: Vec<String>,
}

/// The result of reading.
pub(super) enum Next {
    /// A frame, in the slot.
    Frame(FrameStamp),
    /// A frame that is damaged or, if frames are held, cannot be used, and the reason. A damaged one is in the slot.
    Damaged(FrameStamp, FrameError),
    /// A frame that cannot be read (its number); others may follow.
    Failed(i64, FrameError),
    /// No more frames.
    End,
}

impl Input {
    pub(super) fn new(plan: Plan, on_error: OnError, cancelled: Arc<AtomicBool>) -> Input {
        let is_unbounded = plan.wanted.as_ref().is_some_and(|list| list.numbers.is_unbounded());
        let open = is_unbounded || plan.may_end_early;
        let resumed = plan.wanted.as_ref().is_some_and(|list| !list.skip.is_empty());
        let info = plan.source.info();
        let (at, promised) = (Some(info.first), info.last);
        Input {
            promised,
            source: plan.source,
            wanted: plan.wanted.map(FrameList::into_numbers),
            offset: plan.offset,
            at,
            last: None,
            open,
            resumed,
            ended: false,
            to_end: plan.to_end,
            on_error,
            cancelled,
            notes: Vec::new(),
        }
    }

    /// New notes of the source.
    pub(super) fn drain_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.source.drain_notes());
        notes
    }

    /// The next requested frame; its stamp has the source's number.
    pub(super) fn next(&mut self, slot: &mut Slot) -> Next {
        if self.ended {
            return Next::End;
        }
        let next = match &mut self.wanted {
            None => self.read(slot, None),
            Some(wanted) => match wanted.next() {
                None => self.ending(slot),
                Some(number) => self.find(slot, number - self.offset),
            },
        };
        match &next {
            Next::End => {
                self.ended = true;
                if self.last.is_none() && self.wanted.is_none() {
                    self.last = Some(i64::MIN);
                    return Next::Failed(
                        self.source.info().first,
                        FrameError::Nothing { name: self.source.info().name.clone() },
                    );
                }
            }
            Next::Frame(stamp) | Next::Damaged(stamp, _) => self.last = Some(stamp.number),
            // A failed frame counts as present.
            Next::Failed(number, _) => self.last = Some(*number),
        }
        next
    }

    /// After the last frame of a list: a source that is cut off after its last whole frame reports it here.
    fn ending(&mut self, slot: &mut Slot) -> Next {
        let behind = self.source.info().last.and_then(|last| last.checked_add(1));
        if !self.to_end || self.last.is_none() || behind.is_none() || self.at != behind {
            return Next::End;
        }
        match self.read(slot, None) {
            Next::Frame(_) | Next::Damaged(..) => Next::End,
            other => other,
        }
    }

    /// Reads frame `number`; if the source lacks it (a gap that is skipped), the next requested one.
    fn find(&mut self, slot: &mut Slot, mut number: i64) -> Next {
        if self.at != Some(number)
            && let Err(error) = self.source.seek(number)
        {
            self.at = None;
            // a cut source has no frames after the incomplete one
            if self.open && matches!(&error, SourceError::Truncated { number: cut, .. } if *cut < number) {
                self.ended = true;
                if self.on_error == OnError::Hold && (self.last.is_some() || self.resumed) {
                    return Next::End;
                }
            }
            return Next::Failed(number, error.into());
        }
        let stamp = match self.read(slot, Some(number)) {
            Next::Frame(stamp) => stamp,
            Next::End => {
                self.ended = true;
                // damage may leave fewer frames than the packets promised
                let promised =
                    self.on_error != OnError::Stop && self.promised.is_some_and(|last| number <= last);
                let may_end = self.open || promised;
                if may_end && (self.last.is_some() || self.resumed) {
                    return Next::End;
                }
                let last = self.last.unwrap_or(self.source.info().first) + self.offset;
                let name = self.source.info().name.clone();
                let wanted = number + self.offset;
                return Next::Failed(number, FrameError::Short { name, last, wanted });
            }
            failed => return failed,
        };
        while number < stamp.number {
            let Some(wanted) = self.wanted.as_mut().and_then(Iterator::next) else { return Next::End };
            number = wanted - self.offset;
        }
        if number == stamp.number { Next::Frame(stamp) } else { self.find(slot, number) }
    }

    fn read(&mut self, slot: &mut Slot, number: Option<i64>) -> Next {
        let mut result = self.source.next(slot);
        // the next picture may follow
        let is_passed = |result: &Result<_, SourceError>| match (result, self.on_error) {
            (Err(SourceError::NoFrame { .. }), on_error) => on_error != OnError::Stop,
            (Err(SourceError::Bad { .. }), OnError::Hold) => true,
            _ => false,
        };
        let mut first = None;
        let mut others = 0_u64;
        while is_passed(&result) && !self.cancelled.load(Ordering::Relaxed) {
            let next = self.source.next(slot);
            if let Err(error) = std::mem::replace(&mut result, next) {
                others += u64::from(first.is_some());
                first.get_or_insert(error);
            }
        }
        if let Some(error) = first {
            let more = if others > 0 { format!(" (and {others} more errors)") } else { String::new() };
            self.notes.push(format!("skipped damaged data without a picture: {error}{more}"));
        }
        match result {
            Ok(Some(stamp)) => {
                self.at = stamp.number.checked_add(1);
                Next::Frame(stamp)
            }
            Ok(None) => Next::End,
            Err(error) => {
                if let SourceError::Damaged { stamp, .. } = &error {
                    let stamp = FrameStamp::clone(stamp);
                    self.at = stamp.number.checked_add(1);
                    return Next::Damaged(stamp, error.into());
                }
                if let SourceError::Unusable { stamp, .. } = &error {
                    let stamp = FrameStamp::clone(stamp);
                    self.at = stamp.number.checked_add(1);
                    return if self.on_error == OnError::Hold {
                        Next::Damaged(stamp, error.into())
                    } else {
                        Next::Failed(stamp.number, error.into())
                    };
                }
                let number = number.or(self.at).unwrap_or(self.source.info().first);
                if matches!(error, SourceError::Truncated { .. }) && (self.wanted.is_none() || self.open) {
                    self.ended = true;
                }
                if self.on_error == OnError::Hold && matches!(error, SourceError::Truncated { .. }) {
                    let info = self.source.info();
                    let duration = info.format.rate.recip().unwrap_or(Ratio::ONE);
                    let time = (Ratio::whole(number) - Ratio::whole(info.first)) * duration;
                    return Next::Damaged(FrameStamp { number, time, duration, carried: None }, error.into());
                }
                // The position is only known when frames are read in sequence.
                self.at = if self.wanted.is_none() { number.checked_add(1) } else { None };
                Next::Failed(number, error.into())
            }
        }
    }
}
