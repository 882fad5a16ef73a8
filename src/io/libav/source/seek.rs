//! Maps pictures to frame numbers, and seeks to frames.

use super::make_index::{check, make};
use super::{IndexState, NumberedFrame, Video, av_error, open_error};
use crate::libav::index::cache::IndexCache;
use crate::libav::index::exact::{ExactIndex, FrameRecord};
use crate::libav::picture::{is_damaged, take_mark};
use crate::libav::raw::Fields;
use crate::libav::reader::Item;
use crate::libav::{index, side_data};
use crate::media::SourceError;
use ffmpeg_next::frame;
use ffmpeg_sys_next::AV_FRAME_FLAG_CORRUPT;
use grainfield_filters::ratio::Ratio;
use std::collections::HashSet;
use std::sync::Arc;

impl Video {
    /// Makes the index if there is none and it is possible.
    pub(super) fn make_index(&mut self) {
        if let IndexState::Untried = self.index {
            self.index = match &self.address {
                Some(address) => match make(address, self.reader.demuxer.video()) {
                    Ok(index) => IndexState::Packets(index),
                    Err(why) => {
                        let text = format!("frames are indexed by decoding: {why}");
                        self.info.details.push(("index".into(), text));
                        IndexState::Unreliable
                    }
                },
                None => IndexState::Impossible,
            };
        }
    }

    /// The cache entry of the exact index. With FFmpeg's filters there is none, since it would describe their pictures.
    pub(super) fn exact_index_cache(&self) -> Option<IndexCache<ExactIndex>> {
        let address = self.address.as_ref().filter(|_| !self.reader.has_filters())?;
        IndexCache::new(address, self.reader.demuxer.video())
    }

    /// Decodes everything to find the frames, if they do not follow from the packets. The reading position is
    /// undefined afterwards.
    pub(super) fn make_exact(&mut self) -> Result<(), SourceError> {
        let Some(address) = self.address.clone() else { return Ok(()) };
        self.queue.clear();
        self.reader.restart(&address).map_err(|e| open_error(&self.info.name, e))?;
        let index = ExactIndex::make(&mut self.reader, self.clock.step, |n, last| self.clock.guess(n, last));
        // The next read has to restart.
        self.ended = true;
        self.index = match index {
            Some(exact) => {
                self.new_notes.push(format!(
                    "{}: its packets do not identify its frames, so all {} were decoded once to make an exact index",
                    self.info.name,
                    exact.frames.len()
                ));
                if let Some(index_cache) = self.exact_index_cache() {
                    index_cache.put(&exact);
                }
                IndexState::Exact(Box::new(exact))
            }
            None => IndexState::Impossible,
        };
        self.describe();
        Ok(())
    }

    /// Fills in the properties that follow from the index.
    pub(super) fn describe(&mut self) {
        let (times, entries): (Box<dyn ExactSizeIterator<Item = i64> + '_>, usize) = match &self.index {
            IndexState::Packets(index) => (Box::new(index.frames.iter().copied()), index.entries.len()),
            IndexState::Exact(exact) => {
                (Box::new(exact.frames.iter().map(|f| f.pts)), exact.seek_points.len())
            }
            _ => return,
        };
        let info = &mut self.info;
        let count = times.len();
        info.last = Some(count as i64 - 1);
        let times: Vec<i64> = times.collect();
        let even = times.iter().enumerate().all(|(i, t)| self.clock.is_regular(i as i64, *t));
        info.variable_rate = !even;
        // Only while the input is opened: later readers share it, and keep what they were told.
        let carried = info.carried.as_mut().and_then(Arc::get_mut);
        if let Some(container) = carried.and_then(|c| c.downcast_mut::<side_data::SourceFile>()) {
            container.variable = info.variable_rate;
            container.jumps &= matches!(self.index, IndexState::Exact(_));
        }
        info.details.retain(|d| d.0 != "entry points");
        info.details.push(("entry points".into(), entries.to_string()));
        info.details.retain(|d| d.0 != "shown for");
        if info.variable_rate {
            // the number of frames divided by a rate would be a different time
            let end = times.last().map_or(self.clock.first, |t| t.saturating_add(self.clock.step));
            let seconds = self.clock.seconds(end).to_f64();
            info.details.push(("shown for".into(), format!("{seconds:.3} s")));
        }
    }

    /// The next item of the stream.
    pub(super) fn fetch(&mut self) -> Result<Option<Item>, SourceError> {
        if let Some(item) = self.queue.pop_front() {
            return Ok(Some(item));
        }
        let at = self.position_text(self.last_pts);
        self.reader.next().map_err(|e| av_error(&self.info.name, e, &format!("fails at {at}")))
    }

    /// The timestamp of the picture after the current one; items before it are kept.
    pub(super) fn peek(&mut self) -> Option<i64> {
        let timestamp = |item: &Item| match item {
            Item::Picture(p) => Some(p.timestamp()),
            _ => None,
        };
        if let Some(found) = self.queue.iter().find_map(timestamp) {
            return found;
        }
        while let Ok(Some(item)) = self.reader.next() {
            let found = timestamp(&item);
            let broken = matches!(item, Item::Broken(..) | Item::Restart);
            self.queue.push_back(item);
            if found.is_some() || broken {
                return found.flatten();
            }
        }
        None
    }

    /// The next picture with its number, or an error instead of it.
    pub(super) fn step(&mut self) -> Result<Option<NumberedFrame>, SourceError> {
        loop {
            let mut picture = match self.fetch()? {
                None => {
                    // Decoders drop pictures after some entries that they return when decoding from the
                    // start.
                    if !self.counting && self.indexed_pts(self.next).is_some() {
                        self.seek_exact(self.next)?;
                        continue;
                    }
                    // Fewer pictures than the packets promised.
                    if matches!(self.index, IndexState::Packets(_)) && self.indexed_pts(self.next).is_some() {
                        self.index = IndexState::Unreliable;
                    }
                    self.ended = true;
                    return Ok(None);
                }
                Some(Item::Damage(text)) => {
                    let problem = format!("damaged data at {}: {text}", self.position_text(self.last_pts));
                    return Err(SourceError::NoFrame { name: self.info.name.clone(), problem });
                }
                Some(Item::Broken(error, text)) => {
                    let what = format!("cannot be read at {}{text}", self.position_text(self.last_pts));
                    return Err(av_error(&self.info.name, error, &what));
                }
                Some(Item::Restart) => {
                    self.recount(self.next)?;
                    continue;
                }
                Some(Item::Picture(picture)) => picture,
            };
            let mark = self.mark.take().or_else(|| take_mark(&mut picture));
            let mut frame = NumberedFrame {
                number: self.next,
                pts: picture.timestamp().unwrap_or_else(|| self.clock.guess(self.next, self.last_pts)),
                picture,
                durations: None,
            };
            if !self.complete_from_index(&mut frame, mark) {
                if !self.counting {
                    self.seek_exact(self.next)?;
                    continue;
                }
                // Decoding from the start is right, so the index is wrong.
                self.index = match self.index {
                    IndexState::Packets(_) => IndexState::Unreliable,
                    _ => IndexState::Impossible,
                };
            }
            self.found_by_seeking = false;
            self.last_pts = Some(frame.pts);
            self.next += 1;
            return Ok(Some(frame));
        }
    }

    /// Completes the next frame from an exact index. `false` if the index expects another picture.
    fn complete_from_index(&self, frame: &mut NumberedFrame, mark: Option<u32>) -> bool {
        match &self.index {
            IndexState::Packets(_) => {
                self.indexed_pts(frame.number) == Some(frame.pts)
                    && (self.counting || self.found_by_seeking || !is_damaged(&frame.picture))
            }
            IndexState::Exact(exact) => {
                let record = exact.get(frame.number);
                let is_same = |r: &FrameRecord| mark == Some(r.mark) && r.matches(&frame.picture);
                let same = self.found_by_seeking || record.is_some_and(is_same);
                if let Some(record) = record.filter(|_| same) {
                    (frame.pts, frame.durations) = (record.pts, Some(record.durations));
                    if record.damaged {
                        frame.picture.av_mut().flags |= AV_FRAME_FLAG_CORRUPT;
                    }
                }
                same
            }
            _ => true,
        }
    }

    /// The timestamp of a frame in the index.
    pub(super) fn indexed_pts(&self, number: i64) -> Option<i64> {
        match &self.index {
            IndexState::Packets(index) => index.frames.get(usize::try_from(number).ok()?).copied(),
            IndexState::Exact(exact) => exact.get(number).map(|f| f.pts),
            _ => None,
        }
    }

    /// The number of frames in the index.
    pub(super) fn indexed_count(&self) -> Option<usize> {
        match &self.index {
            IndexState::Packets(index) => Some(index.frames.len()),
            IndexState::Exact(exact) => Some(exact.frames.len()),
            _ => None,
        }
    }

    /// When a frame of the index begins, or after the last one, when that ends.
    pub(super) fn indexed_time(&self, n: usize) -> Ratio {
        let number = n as i64;
        let pts = self.indexed_pts(number).unwrap_or_else(|| {
            let last = self.indexed_pts(number - 1).unwrap_or(self.clock.first);
            last.saturating_add(self.clock.step)
        });
        self.clock.time_and_duration(number, pts, 0).0
    }

    /// The number of the next entry's frame, or of the last one before, as far as the index knows it.
    pub(super) fn adjacent_entry(&self, number: i64, back: bool) -> Option<i64> {
        let all: Vec<i64> = match &self.index {
            IndexState::Packets(index) => {
                let rank = |e: &index::Entry| index.frames.binary_search(&e.pts).ok().map(|n| n as i64);
                index.entries.iter().filter_map(rank).collect()
            }
            IndexState::Exact(exact) => {
                let marks: HashSet<u32> = exact.seek_points.iter().map(|s| s.rank).collect();
                (0..).zip(&exact.frames).filter(|(_, f)| marks.contains(&f.mark)).map(|(n, _)| n).collect()
            }
            _ => return None,
        };
        if back {
            all.into_iter().filter(|n| *n < number).max()
        } else {
            all.into_iter().filter(|n| *n > number).min()
        }
    }

    /// Compares an index that has not been used yet with the first frames.
    fn check_index(&mut self) -> Result<(), SourceError> {
        if let (IndexState::Packets(index), Some(address)) = (&mut self.index, &self.address)
            && !index.checked
        {
            if check(address, self.reader.demuxer.video(), index).is_ok() {
                self.describe();
            } else {
                self.index = IndexState::Unreliable;
                self.make_exact()?;
            }
        }
        Ok(())
    }

    /// Makes an index of all frames, if it is possible, without moving the reading position.
    pub(super) fn find_times(&mut self) -> Result<(), SourceError> {
        self.make_index();
        self.check_index()?;
        if matches!(self.index, IndexState::Unreliable) {
            self.make_exact()?;
        }
        // an exact index is made by reading everything
        if self.ended { self.recount(self.next) } else { Ok(()) }
    }

    /// Makes `number` the next frame, from any position: from the nearest entry that works, else from the start.
    pub(super) fn seek_exact(&mut self, number: i64) -> Result<(), SourceError> {
        self.queue.clear();
        self.mark = None;
        self.reader.damaged = false;
        self.check_index()?;
        let target = self.indexed_pts(number);
        let found = match (&mut self.index, target) {
            (IndexState::Packets(index), Some(target)) => self.reader.seek(index, target).map(|p| (p, None)),
            (IndexState::Exact(exact), Some(_)) => {
                exact.seek(&mut self.reader, number).map(|(picture, mark)| (picture, Some(mark)))
            }
            _ => None,
        };
        // In damaged data there are fewer pictures than the packets promise.
        if self.reader.damaged && matches!(self.index, IndexState::Packets(_)) {
            self.index = IndexState::Unreliable;
            self.make_exact()?;
            return if self.indexed_pts(number).is_some() {
                self.seek_exact(number)
            } else {
                self.recount(number)
            };
        }
        if let Some((picture, mark)) = found {
            self.place(number, picture, mark);
            return Ok(());
        }
        self.recount(number)
    }

    /// Makes a picture that was found by seeking the next frame.
    fn place(&mut self, number: i64, picture: frame::Video, mark: Option<u32>) {
        self.last_pts = self.indexed_pts(number - 1);
        self.mark = mark;
        self.queue.clear();
        self.queue.push_back(Item::Picture(picture));
        (self.next, self.counting, self.ended, self.found_by_seeking) = (number, false, false, true);
    }

    /// Makes the frame of an intact entry the next frame, without reading what follows it. `false` if it is no entry, or
    /// cannot be had by itself.
    pub(super) fn seek_entry_alone(&mut self, number: i64) -> Result<bool, SourceError> {
        self.check_index()?;
        let picture = match (&self.index, self.indexed_pts(number)) {
            (IndexState::Packets(index), Some(target)) => self.reader.entry_alone(index, target),
            _ => None,
        };
        let is_found = picture.is_some();
        picture.into_iter().for_each(|picture| self.place(number, picture, None));
        Ok(is_found)
    }

    /// Restarts, and counts up to frame `number`.
    pub(super) fn recount(&mut self, number: i64) -> Result<(), SourceError> {
        let Some(address) = &self.address else {
            return Err(self.bad(self.forward_only_reason.into()));
        };
        self.reader.restart(address).map_err(|e| open_error(&self.info.name, e))?;
        self.queue.clear();
        self.mark = None;
        (self.next, self.counting, self.ended, self.last_pts, self.found_by_seeking) =
            (0, true, false, None, false);
        self.skip_to(number)
    }

    /// Decodes and drops the frames before frame `number`.
    pub(super) fn skip_to(&mut self, number: i64) -> Result<(), SourceError> {
        while self.next < number {
            match self.step() {
                Ok(Some(_)) => {}
                Ok(None) => {
                    let count = self.next;
                    return Err(
                        self.bad(format!("frame {number} was requested, but there are only {count} frames"))
                    );
                }
                // Damage is reported only for requested frames.
                Err(_) if !self.ended && !self.broken() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
