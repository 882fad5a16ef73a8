//! Filters of all types behind one: what the chain sees of [`Render`] and [`Simulate`].

use super::{Band, Memory, Plan, Render, Simulate};
use crate::frame::{Format, FrameTime, Scratch};
use crate::lend::{Host, PrepareError};
use core::any::Any;

/// A prepared state, or what a simulation moves on.
pub type State = Box<dyn Any + Send + Sync>;

/// What a filter is at a moment.
pub struct Now {
    /// What it does.
    pub plan: Plan,
    params: Box<dyn Any + Send + Sync>,
}

/// A bound filter of whatever type; its methods are those of [`Render`] and [`Simulate`]. What comes from one filter
/// must go back to the same one: others panic.
pub trait Filter: Send + Sync {
    /// What comes out.
    fn output(&self) -> &Format;
    /// What it does at a moment; `None`: nothing.
    fn at(&self, at: &FrameTime) -> Option<Now>;
    /// What it needs at most.
    fn memory(&self) -> Memory;
    /// Makes what the bands of a frame share.
    fn prepare(&self, now: &Now, near: Option<State>, host: &Host<'_>) -> Result<State, PrepareError>;
    /// Whether it is a simulation.
    fn is_simulation(&self) -> bool;
    /// See [`Simulate::step`]; of no use for other filters.
    fn step(&self, now: &Now, line: &mut Option<State>, host: &Host<'_>) -> Result<State, PrepareError>;
    /// Writes the band's rows.
    fn render(&self, now: &Now, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch);
}

fn params<R: Render>(now: &Now) -> &R::Params {
    let params = now.params.downcast_ref();
    params.unwrap_or_else(|| panic!("a filter was given what another one is at a moment"))
}

fn taken<T: Any>(state: Option<State>) -> Option<T> {
    state.and_then(|s| s.downcast::<T>().ok()).map(|s| *s)
}

macro_rules! as_rendered {
    () => {
        fn output(&self) -> &Format {
            self.0.output()
        }
        fn at(&self, at: &FrameTime) -> Option<Now> {
            self.0.at(at).map(|(plan, params)| Now { plan, params: Box::new(params) })
        }
        fn memory(&self) -> Memory {
            self.0.memory()
        }
        fn prepare(&self, now: &Now, near: Option<State>, host: &Host<'_>) -> Result<State, PrepareError> {
            let near: R::State = taken(near).unwrap_or_default();
            Ok(Box::new(self.0.prepare(params::<R>(now), near, host)?))
        }
        fn render(&self, now: &Now, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch) {
            let none = R::State::default();
            let state = state.and_then(|s| s.downcast_ref()).unwrap_or(&none);
            self.0.render(params::<R>(now), state, band, scratch);
        }
    };
}

pub(super) struct Plain<R>(pub(super) R);

impl<R: Render> Filter for Plain<R> {
    as_rendered!();
    fn is_simulation(&self) -> bool {
        false
    }
    fn step(&self, _: &Now, _: &mut Option<State>, _: &Host<'_>) -> Result<State, PrepareError> {
        Ok(Box::new(R::State::default()))
    }
}

pub(super) struct Simulation<R>(pub(super) R);

impl<R: Simulate> Filter for Simulation<R> {
    as_rendered!();
    fn is_simulation(&self) -> bool {
        true
    }
    fn step(&self, now: &Now, line: &mut Option<State>, host: &Host<'_>) -> Result<State, PrepareError> {
        let mut own: Option<R::Line> = taken(line.take());
        let state = self.0.step(params::<R>(now), &mut own, host);
        *line = own.map(|line| -> State { Box::new(line) });
        Ok(Box::new(state?))
    }
}
