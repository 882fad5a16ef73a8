//! The mask of a step: a chain of its own, which makes a grey picture for each frame.

use super::bound::{Chain, Fields, Mask, Options, Stage};
use super::run::Workspace;
use super::states::MaskStates;
use crate::filter::matte;
use crate::frame::{Format, Frame, FrameRef, FrameTime};
use crate::host::{Host, PrepareError};
use crate::ratio::Ratio;
use crate::settings::{SettingError, Values};
use std::sync::Arc;

impl Mask {
    /// The mask of a step whose common settings are resolved; `None` if it has none.
    ///
    /// # Errors
    /// A file has not been read, or does not fit the picture.
    pub(super) fn bind(
        common: &Values,
        input: &Format,
        options: &Options,
        pictures: &[Format],
        fields: Fields,
    ) -> Result<Option<Mask>, SettingError> {
        let mut stages: Vec<Stage> = Vec::new();
        let (mut reads_picture, mut is_constant) = (false, false);
        for picture in pictures {
            let Some(matte) = matte::bind(common, picture, options.level)? else { return Ok(None) };
            reads_picture = matte.reads_picture;
            is_constant = matte.is_constant && !reads_picture;
            for (i, filter) in matte.filters.into_iter().enumerate() {
                match stages.get_mut(i) {
                    Some(stage) => stage.filters.push(filter),
                    None => stages.push(Stage::plain(vec![filter], false, matte::format(input), true)),
                }
            }
        }
        let from = if reads_picture { *input } else { matte::format(input) };
        let chain = Chain { input: from, stages, fields, level: options.level, notes: Vec::new() };
        Ok(Some(Mask { chain, reads_picture, is_constant }))
    }

    /// The mask of a frame: a plane of 16 bits with the size of the frame. `picture` is the frame before the step.
    pub(super) fn weights(
        &self,
        (at, duration): (&FrameTime, Ratio),
        picture: Option<FrameRef<'_>>,
        states: &MaskStates,
        host: &Host<'_>,
    ) -> Result<Arc<Frame>, PrepareError> {
        if let Some(known) = states.constant.get().filter(|_| self.is_constant) {
            return Ok(Arc::clone(known));
        }
        let mut mask = Frame::new(*self.chain.output());
        let mut work = Workspace::default();
        match picture.filter(|_| self.reads_picture) {
            Some(picture) => {
                let to = mask.as_mut();
                self.chain.run_between(at, duration, picture, to, &mut work, &states.states, host)?;
            }
            None => self.chain.run(at, duration, &mut mask, &mut work, &states.states, host)?,
        }
        let mask = Arc::new(mask);
        if self.is_constant {
            // Another worker may have been faster, with the same samples.
            let _ = states.constant.set(Arc::clone(&mask));
        }
        Ok(mask)
    }
}
