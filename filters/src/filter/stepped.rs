//! Simulations with a constant time step: the state that is kept from frame to frame, and jump frames.
//!
//! The number of steps from the source's first frame to frame n does not depend on the rendered range. Every [`JUMP`]
//! frames the state is stored with the host, so that any frame is at most that many frames away from a stored one.

use crate::frame::{Format, FrameTime};
use crate::host::{Executor, Host, PrepareError};
use crate::noise::seed::hash128;
use crate::ratio::Ratio;
use crate::settings::SettingError;
use std::collections::VecDeque;

/// Frames from one stored state to the next.
pub(super) const JUMP: u64 = 24;
/// The last frame: later ones would take too long to reach.
const LAST: u64 = 1 << 24;
/// The number of recent frames that are kept, for threads that lag behind and for steps backwards.
pub(super) const RECENT: usize = JUMP as usize + 1;

/// Frames per second of an input; 24 if it has no rate.
pub(super) fn rate(input: &Format) -> Ratio {
    if input.rate > Ratio::ZERO { input.rate } else { Ratio::whole(24) }
}

/// The displayed aspect ratio of an input.
///
/// # Errors
/// One side is more than `limit` times as long as the other.
pub(super) fn aspect(input: &Format, limit: f64) -> Result<f64, SettingError> {
    let aspect = f64::from(input.width) * input.shape() / f64::from(input.height);
    if (1.0 / limit..=limit).contains(&aspect) {
        return Ok(aspect);
    }
    let problem = format!("one side of the frame is more than {limit} times as long as the other: crop it");
    Err(SettingError::new("", problem))
}

/// The relation of frames and steps.
pub(super) struct Clock {
    /// Frames per second.
    pub(super) rate: Ratio,
    /// Steps per frame: an even number, so that fields are at whole steps, too.
    pub(super) frame: u64,
    /// Steps before the source's first frame.
    pub(super) preroll_steps: u64,
    /// The key of the states in the store.
    key: u128,
}

impl Clock {
    /// `start` is in seconds before the source's first frame; `words` are all values that affect a state: other words
    /// give another key.
    pub(super) fn new(input: &Format, frame: u64, start: f64, words: impl Iterator<Item = u64>) -> Clock {
        let rate = rate(input);
        let preroll_steps = libm::floor(start * rate.to_f64() + 0.5) as u64 * frame;
        Clock { rate, frame, preroll_steps, key: hash128(words) }
    }

    /// Whole steps before a frame is shown.
    pub(super) fn steps(&self, at: &FrameTime) -> u64 {
        let (t, r) = (at.time, self.rate);
        let over = i128::from(t.num()).checked_mul(i128::from(r.num()));
        let over = over.and_then(|v| v.checked_mul(i128::from(self.frame))).unwrap_or(0);
        let under = i128::from(t.den()) * i128::from(r.den());
        let steps = u64::try_from(over.div_euclid(under.max(1)).max(0)).unwrap_or(u64::MAX / 4);
        steps.min(u64::MAX / 4) + self.preroll_steps
    }

    /// The time of the source after so many steps.
    pub(super) fn time(&self, steps: u64) -> FrameTime {
        let since = steps.saturating_sub(self.preroll_steps).min(i64::MAX as u64) as i64;
        let frame = Ratio::new(since, self.frame as i64).unwrap_or(Ratio::ZERO);
        let time = frame.checked_div(self.rate).unwrap_or(Ratio::ZERO);
        FrameTime { index: 0, frame, time, late: Ratio::ZERO }
    }

    /// The key of the state after so many steps.
    fn state(&self, steps: u64) -> u128 {
        hash128([(self.key >> 64) as u64, self.key as u64, steps])
    }
}

/// A simulation: items of `N` numbers each.
pub(super) trait Stepped<const N: usize> {
    /// The filter, for messages.
    const NAME: &'static str;
    type State;
    /// The data of a state that a frame needs.
    type Snapshot: Clone;

    fn clock(&self) -> &Clock;
    fn start(&self) -> Result<Self::State, PrepareError>;
    /// Advances a state that was reached after so many steps.
    fn advance(&self, state: &mut Self::State, steps: u64, executor: &dyn Executor);
    /// It may keep what it finds out in the state.
    fn snapshot(&self, state: &mut Self::State) -> Self::Snapshot;
    /// Its items by number.
    fn items(&self, state: &Self::State) -> Vec<[f32; N]>;
    /// The state of these items after so many steps; `None` if they are not a valid state.
    fn restore(&self, items: Vec<[f32; N]>, steps: u64) -> Option<Self::State>;
}

/// A state that is advanced from frame to frame.
pub(super) struct SimulationTrack<S, T> {
    key: u128,
    steps: u64,
    state: S,
    /// The items after so many steps, for the latest frames.
    recent: VecDeque<(u64, T)>,
}

/// The items after `target` steps.
pub(super) fn snapshot<const N: usize, S: Stepped<N>>(
    simulation: &S,
    target: u64,
    track: &mut Option<SimulationTrack<S::State, S::Snapshot>>,
    host: &Host<'_>,
) -> Result<S::Snapshot, PrepareError> {
    let clock = simulation.clock();
    if target.saturating_sub(clock.preroll_steps) > LAST * clock.frame {
        let name = S::NAME;
        let text = format!("{name} computes every frame from the first one on, up to {LAST} frames");
        return Err(PrepareError::Failed(text));
    }
    track.take_if(|current| current.key != clock.key);
    let recent = track.iter().flat_map(|current| &current.recent).find(|(steps, _)| *steps == target);
    if let Some((_, snapshot)) = recent {
        return Ok(snapshot.clone());
    }
    let usable = track.as_ref().map(|current| current.steps).filter(|steps| *steps <= target);
    let found = match stored(simulation, usable, target, host)? {
        None if usable.is_none() => Some((0, simulation.start()?)),
        found => found,
    };
    let mut current = match (found, track.take()) {
        (Some((steps, state)), current) => {
            let recent = current.map_or_else(VecDeque::new, |current| current.recent);
            SimulationTrack { key: clock.key, steps, state, recent }
        }
        (None, Some(current)) => current,
        (None, None) => return Err(PrepareError::Failed("no state to start from".into())),
    };
    // The steps from one frame to the next are short.
    let long = target - current.steps > clock.frame;
    let result = loop {
        let steps = current.steps;
        if long && steps.is_multiple_of(clock.frame) {
            host.cache.simulating(steps / clock.frame, target.div_ceil(clock.frame));
        }
        if steps.is_multiple_of(clock.frame) || steps == target {
            if steps > 0 && steps.is_multiple_of(JUMP * clock.frame) {
                host.cache.put(clock.state(steps), &save(&simulation.items(&current.state), steps));
            }
            // On the way to a far frame, those that would be dropped before it are not made.
            if target - steps < RECENT as u64 * clock.frame {
                current.recent.retain(|(n, _)| *n != steps);
                while current.recent.len() >= RECENT {
                    current.recent.pop_front();
                }
                let snapshot = simulation.snapshot(&mut current.state);
                current.recent.push_back((steps, snapshot.clone()));
                if steps == target {
                    break Ok(snapshot);
                }
            }
        }
        if let Err(stopped) = host.check() {
            break Err(stopped);
        }
        simulation.advance(&mut current.state, steps, host.executor);
        current.steps += 1;
    };
    *track = Some(current);
    result
}

/// The latest stored state after `after` steps and up to `to`.
fn stored<const N: usize, S: Stepped<N>>(
    simulation: &S,
    after: Option<u64>,
    to: u64,
    host: &Host<'_>,
) -> Result<Option<(u64, S::State)>, PrepareError> {
    let every = JUMP * simulation.clock().frame;
    let mut steps = to / every * every;
    while steps > 0 && after.is_none_or(|a| steps > a) {
        host.check()?;
        if let Some(bytes) = host.cache.get(simulation.clock().state(steps))
            && let Some(items) = load(&bytes, steps)
            && let Some(state) = simulation.restore(items, steps)
        {
            return Ok(Some((steps, state)));
        }
        steps -= every;
    }
    Ok(None)
}

const HEAD: usize = 12;

/// A state as bytes, little endian: steps u64, items u32; then each of the numbers of all items, as four runs of bytes,
/// the highest first, because equal bytes that are adjacent compress well. The store must return the bytes unchanged.
fn save<const N: usize>(items: &[[f32; N]], steps: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + 4 * N * items.len());
    out.extend(steps.to_le_bytes());
    out.extend((items.len() as u32).to_le_bytes());
    for k in 0..N {
        for byte in (0..4).rev() {
            out.extend(items.iter().map(|a| (a[k].to_bits() >> (8 * byte)) as u8));
        }
    }
    out
}

/// The items; `None` if the bytes are not a state after so many steps.
fn load<const N: usize>(bytes: &[u8], steps: u64) -> Option<Vec<[f32; N]>> {
    let (head, body) = bytes.split_first_chunk::<HEAD>()?;
    let count = u32::from_le_bytes(*head.last_chunk()?) as usize;
    if head[..8] != steps.to_le_bytes() || body.len() != 4 * N * count {
        return None;
    }
    let number = |i: usize, k: usize| {
        f32::from_bits((0..4).fold(0, |bits, byte| bits << 8 | u32::from(body[(4 * k + byte) * count + i])))
    };
    let items: Vec<[f32; N]> = (0..count).map(|i| core::array::from_fn(|k| number(i, k))).collect();
    items.iter().flatten().all(|v| v.is_finite()).then_some(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Depth, Family};

    #[test]
    fn states_come_back_and_others_are_refused() {
        let items: Vec<[f32; 5]> =
            (0..100).map(|i| core::array::from_fn(|k| (i * 5 + k) as f32 * -0.37)).collect();
        let bytes = save(&items, 48);
        assert_eq!(load(&bytes, 48).as_deref(), Some(&items[..]));
        assert_eq!((load::<5>(&bytes, 49), load::<4>(&bytes, 48)), (None, None));
        for cut in 0..bytes.len() {
            assert_eq!(load::<5>(&bytes[..cut], 48), None);
        }
        let mut odd = items.clone();
        odd[7][3] = f32::NAN;
        assert_eq!(load::<5>(&save(&odd, 48), 48), None);
        assert_eq!(load::<5>(&save::<5>(&[], 0), 0), Some(vec![]));
    }

    #[test]
    fn keys_differ() {
        let clock = |words: &[u64]| {
            Clock::new(
                &Format::new(8, 8, Family::Gray, Depth::Bits(8), (0, 0)),
                2,
                0.0,
                words.iter().copied(),
            )
        };
        let words: [&[u64]; 5] = [&[], &[0], &[0, 0], &[1, 0], &[0, 1]];
        let mut all: Vec<u128> = words.iter().map(|w| clock(w).key).collect();
        all.extend((0..100).map(|n| clock(&[7]).state(n)));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
