//! Renders filters over clean pictures, which may be synthetic.

use super::error::MatchError;
use crate::session::Cancel;
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Step, Workspace};
use grainfield_filters::frame::{Depth, Format, Frame, FrameTime};
use grainfield_filters::host::{CurrentThread, Host, NoCache};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::Level;

/// A frame whose colour planes are `code` of (x, y), in 8-bit codes, with neutral chroma.
pub(super) fn synthetic_frame(format: Format, code: impl Fn(usize, usize) -> f64) -> Frame {
    let mut frame = Frame::new(format);
    for p in format.color_planes().iter() {
        let (width, height) = format.plane_size(p);
        for y in 0..height {
            for x in 0..width {
                let code = if format.is_chroma(p) { 128.0 } else { code(x, y) };
                match format.depth {
                    Depth::Bits(8) => frame.row_mut::<u8>(p, y)[x] = code as u8,
                    Depth::Bits(bits) => {
                        frame.row_mut::<u16>(p, y)[x] = (code * f64::from(1u16 << (bits - 8))) as u16
                    }
                    Depth::Float if format.is_chroma(p) => frame.row_mut::<f32>(p, y)[x] = 0.0,
                    Depth::Float => frame.row_mut::<f32>(p, y)[x] = (code / 255.0) as f32,
                }
            }
        }
    }
    frame
}

/// Steps bound to pictures, with everything needed to render them.
pub(super) struct StepRenderer<'a> {
    chain: Chain,
    work: Workspace,
    states: States,
    cancel: &'a Cancel,
}

impl StepRenderer<'_> {
    pub(super) fn new<'a>(
        steps: &[Step],
        input: &Format,
        output: &Format,
        seed: u64,
        cancel: &'a Cancel,
    ) -> Result<StepRenderer<'a>, MatchError> {
        let options =
            Options { seed, level: Level::best(), first: 0, last: None, fields: Fields::of(input.fields) };
        let depth = output.depth;
        let chain =
            Chain::bind::<ChainError>(steps, *input, &options, |rendered| Ok(Format { depth, ..*rendered }))?;
        Ok(StepRenderer { chain, work: Workspace::default(), states: States::default(), cancel })
    }

    pub(super) fn frame(
        &mut self,
        clean: &Frame,
        number: i64,
        time: Ratio,
        duration: Ratio,
    ) -> Result<Frame, MatchError> {
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: self.cancel.flag() };
        let mut frame = clean.clone();
        let at = FrameTime::of_time(number, time);
        self.chain.run(&at, duration, &mut frame, &mut self.work, &self.states, &host)?;
        Ok(frame)
    }
}
