//! Replaces source frames that cannot be decoded by the nearest good frame before them.
//!
//! The replacement depends on the source alone, not on the order in which frames are requested: it is searched by reading
//! the frames before the damaged one, from a second opening of the source. A source that can be read once is decoded in
//! order instead, and its last good frame is kept.

use super::guarded;
use grainfield_filters::frame::Frame;
use grainfield_io::media::{Slot, Source, SourceError};
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens a source once more.
pub type Reopen = Box<dyn Fn() -> Result<Box<dyn Source>, SourceError> + Send>;

/// Finds good frames.
pub(super) struct Holder {
    /// `None` for a source that can be read once.
    reopen: Option<Reopen>,
    source: Option<Box<dyn Source>>,
    found: Option<Found>,
}

/// A good frame, and the damaged ones after it.
struct Found {
    number: i64,
    /// All frames after it up to this one are known to be damaged.
    damaged_to: i64,
    frame: Frame,
}

impl Holder {
    pub(super) fn new(reopen: Option<Reopen>) -> Holder {
        Holder { reopen, source: None, found: None }
    }

    /// Whether frames must be decoded in order and [kept](Holder::keep).
    pub(super) fn is_in_order(&self) -> bool {
        self.reopen.is_none()
    }

    /// Keeps a good frame of a source that can be read once.
    pub(super) fn keep(&mut self, number: i64, frame: &Frame) {
        self.found = Some(Found { number, damaged_to: number, frame: frame.clone() });
    }

    /// Replaces the damaged frame `number`; returns the number of the good one, if there is one before it.
    pub(super) fn replace(&mut self, number: i64, frame: &mut Frame, stop: &AtomicBool) -> Option<i64> {
        let mut before = number.checked_sub(1)?;
        let found = loop {
            if let Some(found) = &mut self.found
                && (found.number..=found.damaged_to).contains(&before)
            {
                found.damaged_to = found.damaged_to.max(number);
                break found;
            }
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(good) = self.read(before)? {
                break self.found.insert(Found { number: before, damaged_to: number, frame: good });
            }
            before = before.checked_sub(1)?;
        };
        frame.clone_from(&found.frame);
        Some(found.number)
    }

    /// Frame `number`, or `Some(None)` if it is damaged; `None` if the source has no such frame.
    fn read(&mut self, number: i64) -> Option<Option<Frame>> {
        if self.source.is_none() {
            self.source = Some(self.reopen.as_ref()?().ok()?);
        }
        let source = self.source.as_mut()?;
        if number < source.info().first {
            return None;
        }
        let mut slot = Slot::default();
        let read = guarded(|| {
            source.seek(number)?;
            let stamp = source.next(&mut slot)?.filter(|stamp| stamp.number == number);
            let Some(stamp) = stamp else { return Ok(false) };
            source.decoder().decode(&stamp, &mut slot)?;
            Ok(true)
        });
        Some(matches!(read, Ok(true)).then_some(slot.frame))
    }
}
