//! Type-erased filters: the interface that the chain uses for [`Render`] and [`Simulate`].

use super::{Band, Memory, Plan, Render, Simulate};
use crate::frame::{FrameRef, FrameTime, Scratch, SecondInput};
use crate::host::{Host, PrepareError};
use core::any::Any;

/// A prepared state, or the state of a simulation.
pub type State = Box<dyn Any + Send + Sync>;

/// The parameters of a filter at a time.
pub struct FrameParams {
    /// The filter's plan.
    pub plan: Plan,
    params: Box<dyn Any + Send + Sync>,
}

/// A bound filter of any type; its methods are those of [`Render`] and [`Simulate`]. Values from one filter must be
/// passed to the same filter; others panic.
pub trait Filter: Send + Sync {
    /// The parameters at a time; `None` if the filter does nothing.
    fn at(&self, at: &FrameTime) -> Option<FrameParams>;
    /// An upper bound of the memory it needs.
    fn memory(&self) -> Memory;
    /// Prepares the state that the bands of a frame share.
    fn prepare(&self, now: &FrameParams, near: Option<State>, host: &Host<'_>)
    -> Result<State, PrepareError>;
    /// See [`Render::second`].
    fn second(&self, at: &FrameTime) -> Option<(&dyn SecondInput, i64)>;
    /// See [`Render::of_picture`].
    fn of_picture(&self, now: &FrameParams, picture: FrameRef<'_>) -> Result<Option<State>, PrepareError>;
    /// Whether it is a simulation.
    fn is_simulation(&self) -> bool;
    /// See [`Simulate::step`]; other filters do nothing.
    fn step(
        &self,
        now: &FrameParams,
        simulation: &mut Option<State>,
        host: &Host<'_>,
    ) -> Result<State, PrepareError>;
    /// See [`Render::map_codes`].
    fn map_codes(&self, now: &FrameParams, state: Option<&State>, p: usize, codes: &mut [u16])
    -> Option<u32>;
    /// Writes the band's rows.
    fn render(&self, now: &FrameParams, state: Option<&State>, band: &mut Band<'_>, scratch: &mut Scratch);
}

fn params<R: Render>(now: &FrameParams) -> &R::Params {
    let params = now.params.downcast_ref();
    params.unwrap_or_else(|| panic!("parameters belong to a different filter"))
}

fn taken<T: Any>(state: Option<State>) -> Option<T> {
    state.and_then(|s| s.downcast::<T>().ok()).map(|s| *s)
}

macro_rules! as_rendered {
    () => {
        fn at(&self, at: &FrameTime) -> Option<FrameParams> {
            self.0.at(at).map(|(plan, params)| FrameParams { plan, params: Box::new(params) })
        }
        fn memory(&self) -> Memory {
            self.0.memory()
        }
        fn prepare(
            &self,
            now: &FrameParams,
            near: Option<State>,
            host: &Host<'_>,
        ) -> Result<State, PrepareError> {
            let near: R::State = taken(near).unwrap_or_default();
            Ok(Box::new(self.0.prepare(params::<R>(now), near, host)?))
        }
        fn second(&self, at: &FrameTime) -> Option<(&dyn SecondInput, i64)> {
            self.0.second(at)
        }
        fn of_picture(
            &self,
            now: &FrameParams,
            picture: FrameRef<'_>,
        ) -> Result<Option<State>, PrepareError> {
            let state = self.0.of_picture(params::<R>(now), picture)?;
            Ok(state.map(|state| -> State { Box::new(state) }))
        }
        fn map_codes(
            &self,
            now: &FrameParams,
            state: Option<&State>,
            p: usize,
            codes: &mut [u16],
        ) -> Option<u32> {
            let none = R::State::default();
            let state = state.and_then(|s| s.downcast_ref()).unwrap_or(&none);
            self.0.map_codes(params::<R>(now), state, p, codes)
        }
        fn render(
            &self,
            now: &FrameParams,
            state: Option<&State>,
            band: &mut Band<'_>,
            scratch: &mut Scratch,
        ) {
            let none = R::State::default();
            let state = state.and_then(|s| s.downcast_ref()).unwrap_or(&none);
            self.0.render(params::<R>(now), state, band, scratch);
        }
    };
}

pub(super) struct FrameFilter<R>(pub(super) R);

impl<R: Render> Filter for FrameFilter<R> {
    as_rendered!();
    fn is_simulation(&self) -> bool {
        false
    }
    fn step(&self, _: &FrameParams, _: &mut Option<State>, _: &Host<'_>) -> Result<State, PrepareError> {
        Ok(Box::new(R::State::default()))
    }
}

pub(super) struct SimulationFilter<R>(pub(super) R);

impl<R: Simulate> Filter for SimulationFilter<R> {
    as_rendered!();
    fn is_simulation(&self) -> bool {
        true
    }
    fn step(
        &self,
        now: &FrameParams,
        simulation: &mut Option<State>,
        host: &Host<'_>,
    ) -> Result<State, PrepareError> {
        let mut own: Option<R::Simulation> = taken(simulation.take());
        let state = self.0.step(params::<R>(now), &mut own, host);
        *simulation = own.map(|simulation| -> State { Box::new(simulation) });
        Ok(Box::new(state?))
    }
}
