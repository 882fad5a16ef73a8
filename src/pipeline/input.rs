//! Which frames come, in which order.

use super::FrameError;
use crate::journal::FrameList;
use crate::media::{FrameStamp, Slot, Source, SourceError};
use grainfield_filters::frame::Ranges;

/// Which frames are wanted, by the numbers the user sees (after the offset).
#[derive(Clone, Debug)]
pub enum FrameSelection {
    /// Everything, first to last.
    All,
    /// These, in this order.
    Frames(Ranges),
    /// A part of these.
    Listed(FrameList),
}

/// Where frames come from, and which.
pub struct Plan {
    /// Opened.
    pub source: Box<dyn Source>,
    /// Which frames.
    pub wanted: FrameSelection,
    /// Added to the source's numbers before anything looks at them.
    pub offset: i64,
    /// How many frames there will be, if that is known.
    pub total: Option<u64>,
    /// Everything to the source's end is wanted: behind the last frame it has to have ended well.
    pub to_end: bool,
}

/// The reading end: a source, and the numbers still wanted.
pub(super) struct Input {
    source: Box<dyn Source>,
    wanted: Option<Box<dyn Iterator<Item = i64> + Send>>,
    offset: i64,
    /// The number that the source gives next, unless it has been disturbed.
    at: Option<i64>,
    last: Option<i64>,
    /// A range has no end, so the source's end is its end.
    open: bool,
    /// Frames came before, in an earlier run: there may be none left.
    resumed: bool,
    ended: bool,
    to_end: bool,
}

/// What came.
pub(super) enum Next {
    /// A frame, in the slot.
    Frame(FrameStamp),
    /// A frame that the decoder calls damaged, in the slot, and what it says.
    Damaged(FrameStamp, FrameError),
    /// A frame that cannot be read (its number), and others may follow.
    Failed(i64, FrameError),
    /// No more.
    End,
}

impl Input {
    pub(super) fn new(plan: Plan) -> Input {
        let (open, resumed) = match &plan.wanted {
            FrameSelection::All => (false, false),
            FrameSelection::Frames(ranges) => (ranges.is_unbounded(), false),
            FrameSelection::Listed(list) => (list.numbers.is_unbounded(), !list.skip.is_empty()),
        };
        let wanted = match plan.wanted {
            FrameSelection::All => None,
            FrameSelection::Frames(ranges) => Some(ranges.into_iter()),
            FrameSelection::Listed(list) => Some(list.into_numbers()),
        };
        let at = Some(plan.source.info().first);
        Input {
            source: plan.source,
            wanted,
            offset: plan.offset,
            at,
            last: None,
            open,
            resumed,
            ended: false,
            to_end: plan.to_end,
        }
    }

    /// What the source has to tell.
    pub(super) fn drain_notes(&mut self) -> Vec<String> {
        self.source.drain_notes()
    }

    /// The next wanted frame; its stamp bears the source's number.
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
            // A frame that failed is something too.
            Next::Failed(number, _) => self.last = Some(*number),
        }
        next
    }

    /// All that was listed has come. A source that breaks off behind its last whole frame says so there.
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

    /// Reads frame `number`; where the source leaves it out (a hole that is skipped), the next wanted one.
    fn find(&mut self, slot: &mut Slot, mut number: i64) -> Next {
        if self.at != Some(number)
            && let Err(error) = self.source.seek(number)
        {
            self.at = None;
            return Next::Failed(number, error.into());
        }
        let stamp = match self.read(slot, Some(number)) {
            Next::Frame(stamp) => stamp,
            Next::End => {
                self.ended = true;
                if self.open && (self.last.is_some() || self.resumed) {
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
        match self.source.next(slot) {
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
                let number = number.or(self.at).unwrap_or(self.source.info().first);
                if matches!(error, SourceError::Truncated { .. }) && self.wanted.is_none() {
                    self.ended = true;
                }
                // Where it stands now is only known when frames come one after the other.
                self.at = if self.wanted.is_none() { number.checked_add(1) } else { None };
                Next::Failed(number, error.into())
            }
        }
    }
}
