//! `lavfi`: filters of FFmpeg at any place of a chain.
//!
//! The host runs them: this crate knows only the trait [`FilterLibrary`]. They see one picture at a time, so that any
//! frame can be rendered first. They work at the depth of the chain, or at the next lower one that they take; a chain of
//! more bits is reduced with dither before them, as before `av1grain`. They get straight colour: the chain divides
//! premultiplied colour by alpha before them, and multiplies it again after them.

use super::convert::with_matrix_of;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Role, Spec};
use crate::frame::{
    Alpha, ExternalFilter, FilterLibrary, Format, Frame, FrameRef, FrameTime, PictureStructure, Scratch,
};
use crate::host::PrepareError;
use crate::ratio::Ratio;
use crate::settings;
use crate::settings::{Setting, SettingError, Settings, Values};
use crate::simd::Level;
use std::sync::Arc;

/// The catalog's entry.
pub const ENTRY: Entry =
    Entry::new::<LavfiSpec>("lavfi", "FFmpeg filter", "Runs filters of FFmpeg on each frame")
        .with_role(Role::Moves);

/// What the error of a library says of filters that it could run only before a chain.
pub const SEVERAL_FRAMES: &str =
    "may read several frames or change their number, so that no frame could be rendered by itself";

settings! {
    struct LavfiSettings {
        /// Filters of FFmpeg in its own notation, in quotes: `lavfi='hue=s=0,unsharp'`. Those that look at one frame and read
        /// no file; without any nothing changes. They may change the size, not the pixel format. They get straight
        /// colour; light without coverage ends here.
        graph: Option<String> = text(),
    }
}

/// The graph, and the library that runs it.
struct LavfiSpec {
    graph: Option<String>,
    library: Option<Arc<dyn FilterLibrary>>,
}

impl Settings for LavfiSpec {
    const TABLE: &'static [Setting] = LavfiSettings::TABLE;

    fn read(values: &Values) -> LavfiSpec {
        LavfiSpec { graph: LavfiSettings::read(values).graph, library: values.library().cloned() }
    }
}

impl LavfiSpec {
    /// The filters, bound to a format; `None` without a graph.
    fn external(&self, input: &Format) -> Result<Option<Box<dyn ExternalFilter>>, SettingError> {
        let Some(graph) = self.graph.as_ref().filter(|graph| !graph.trim().is_empty()) else {
            return Ok(None);
        };
        let Some(library) = &self.library else {
            let problem = "FFmpeg's filters run in the program and the library grainfield, built with FFmpeg, and not \
                           here: leave this out, and use those of FFmpeg itself or of this host";
            return Err(SettingError::new("graph", problem));
        };
        let straight = Format { alpha: Alpha::Straight, ..*input };
        let input = if input.alpha == Alpha::Premultiplied { straight } else { *input };
        library.bind(graph, &input).map(Some).map_err(|e| SettingError::new("graph", e))
    }
}

impl Spec for LavfiSpec {
    fn bind(&self, input: &Format, _: u64, _: Level) -> Result<Box<dyn Filter>, SettingError> {
        let filter = self.external(input)?;
        let whole = self.output_format(&Format { picture: PictureStructure::Frame, ..*input });
        let output = Format { picture: input.picture, ..whole };
        output.check().map_err(|e| SettingError::new("graph", e))?;
        if filter.as_ref().is_some_and(|filter| filter.size() != output.plane_size(0)) {
            let problem =
                "this makes the two fields of an interlaced picture differ in size: scale by `scale`";
            return Err(SettingError::new("graph", problem));
        }
        Ok(Lavfi { input: *input, output, filter }.boxed())
    }

    /// The format of its output; that of the input for graphs that are refused when they are bound.
    fn output_format(&self, input: &Format) -> Format {
        let Ok(Some(filter)) = self.external(input) else { return *input };
        let (width, height) = filter.size();
        with_matrix_of(input, Format { width: width as u32, height: height as u32, ..*input })
    }

    fn working_format(&self, input: &Format) -> Format {
        self.external(input).ok().flatten().map_or(*input, |filter| *filter.input())
    }

    fn wants_16_bits(&self) -> bool {
        false
    }
}

struct Lavfi {
    input: Format,
    output: Format,
    filter: Option<Box<dyn ExternalFilter>>,
}

impl Render for Lavfi {
    /// The time in seconds.
    type Params = Ratio;
    /// The result.
    type State = Option<Frame>;

    fn at(&self, at: &FrameTime) -> Option<(Plan, Ratio)> {
        self.filter.as_ref()?;
        Some((Plan { reach: Reach::Whole, ..Plan::in_place(self.output.all_planes()) }, at.time))
    }

    fn memory(&self) -> Memory {
        // The library copies the picture, and its result is copied again.
        let [from, to] = [self.input, self.output].map(|format| format.frame_bytes());
        Memory { fixed: 0, per_frame: if self.filter.is_some() { from + 2 * to } else { 0 } }
    }

    fn of_picture(&self, time: &Ratio, picture: FrameRef<'_>) -> Result<Option<Option<Frame>>, PrepareError> {
        let Some(filter) = &self.filter else { return Ok(None) };
        let mut out = Frame::new(self.output);
        filter.filter(picture, *time, &mut out).map_err(|e| PrepareError::Failed(format!("lavfi: {e}")))?;
        Ok(Some(Some(out)))
    }

    fn render(&self, _: &Ratio, made: &Option<Frame>, band: &mut Band<'_>, _: &mut Scratch) {
        let Some(made) = made else { unreachable!("`of_picture` makes it, or the frame fails") };
        for p in band.writes.iter().filter(|&p| p < self.output.planes()) {
            let to = band.output.plane_mut(p);
            to.rows().for_each(|y| to.row_bytes_mut(y).copy_from_slice(made.plane(p).row_bytes(y)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Chain, ChainError, Fields, Options, States, Step, Workspace};
    use crate::frame::{Depth, FieldOrder};
    use crate::host::{CurrentThread, Host, NoCache};
    use core::sync::atomic::AtomicBool;

    /// Turns pictures upside down, and fails from second 2 on.
    #[derive(Debug)]
    struct Down(Option<Format>);

    impl FilterLibrary for Down {
        fn bind(&self, _: &str, input: &Format) -> Result<Box<dyn ExternalFilter>, String> {
            Ok(Box::new(Down(Some(*input))))
        }
    }

    impl ExternalFilter for Down {
        fn input(&self) -> &Format {
            self.0.as_ref().unwrap()
        }

        fn size(&self) -> (usize, usize) {
            self.input().plane_size(0)
        }

        fn filter(&self, picture: FrameRef<'_>, time: Ratio, out: &mut Frame) -> Result<(), String> {
            let rows = picture.plane(0).rows();
            rows.clone().for_each(|y| {
                out.row_bytes_mut(0, y).copy_from_slice(picture.plane(0).row_bytes(rows.end - 1 - y))
            });
            if time < Ratio::whole(2) { Ok(()) } else { Err("too late".into()) }
        }
    }

    #[test]
    fn each_field_goes_through_the_library_and_what_fails_ends_the_frame() {
        let format = Format { fields: FieldOrder::TopFirst, ..Format::from_name("gray", 9, 200).unwrap() };
        let mut values = Values::new(ENTRY.settings);
        values.set("graph", crate::settings::Value::Text("down".into())).unwrap();
        let options = Options {
            seed: 1,
            level: Level::best(),
            first: 0,
            last: None,
            fields: Fields::of(format.fields),
        };
        let bind = |values: &Values| {
            let step = Step::new(crate::catalog::find("lavfi").unwrap(), values.clone());
            Chain::bind::<ChainError>(&[step], format, &options, |made| Ok(*made))
        };
        assert!(bind(&values).unwrap_err().to_string().contains("built with FFmpeg"));
        values.supply_library(Arc::new(Down(None)));
        let chain = bind(&values).unwrap();
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
        let mut frame = Frame::new(format);
        (0..200).for_each(|y| frame.row_mut::<u8>(0, y).fill(y as u8));
        let mut run = |second: i64| {
            let at = FrameTime::of_time(second, Ratio::whole(second));
            chain.run(&at, Ratio::ONE, &mut frame, &mut Workspace::default(), &States::default(), &host)
        };
        assert!(run(2).unwrap_err().to_string().contains("too late"));
        run(0).unwrap();
        assert!((0..200).all(|y| usize::from(frame.row::<u8>(0, y)[8]) == (198 - y / 2 * 2) + y % 2));
    }

    /// The negative, in formats of this depth.
    #[derive(Debug)]
    struct Negative(Depth, Option<Format>);

    impl FilterLibrary for Negative {
        fn bind(&self, _: &str, input: &Format) -> Result<Box<dyn ExternalFilter>, String> {
            Ok(Box::new(Negative(self.0, Some(Format { depth: self.0, ..*input }))))
        }
    }

    impl ExternalFilter for Negative {
        fn input(&self) -> &Format {
            self.1.as_ref().unwrap()
        }

        fn size(&self) -> (usize, usize) {
            self.input().plane_size(0)
        }

        fn filter(&self, picture: FrameRef<'_>, _: Ratio, out: &mut Frame) -> Result<(), String> {
            for (p, y) in (0..4).flat_map(|p| picture.plane(p).rows().map(move |y| (p, y))) {
                if self.0 == Depth::Float {
                    let row = out.row_mut::<f32>(p, y).iter_mut().zip(picture.plane(p).row::<f32>(y));
                    row.for_each(|(out, v)| *out = if p == 3 { *v } else { 1.0 - v });
                } else {
                    let row = out.row_mut::<u16>(p, y).iter_mut().zip(picture.plane(p).row::<u16>(y));
                    row.for_each(|(out, v)| *out = if p == 3 { *v } else { 65535 - v });
                }
            }
            Ok(())
        }
    }

    #[test]
    fn it_gets_straight_colour_and_says_what_is_cut_off() {
        let format = Format { alpha: Alpha::Premultiplied, ..Format::from_name("gbrapf32", 4, 3).unwrap() };
        let mut source = Frame::new(format);
        for (p, y) in (0..4).flat_map(|p| (0..3).map(move |y| (p, y))) {
            let row = if p == 3 { [0.0, 0.5, 1.0, 1.0] } else { [0.0, 0.1, 0.3, 10.0] };
            source.row_mut::<f32>(p, y).copy_from_slice(&row);
        }
        let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
        for (depth, brightest) in [(Depth::Float, -9.0), (Depth::Bits(16), 0.0)] {
            let mut values = Values::new(ENTRY.settings);
            values.set("graph", crate::settings::Value::Text("negate".into())).unwrap();
            values.supply_library(Arc::new(Negative(depth, None)));
            let step = Step::new(crate::catalog::find("lavfi").unwrap(), values);
            let options =
                Options { seed: 1, level: Level::best(), first: 0, last: None, fields: Fields::Frame };
            let chain = Chain::bind::<ChainError>(&[step], format, &options, |made| Ok(*made)).unwrap();
            let noted = chain.notes().iter().any(|note| note.contains("cut off"));
            assert_eq!(noted, depth != Depth::Float, "{:?}", chain.notes());
            let (mut made, at) = (source.clone(), FrameTime::of_frame(0, Ratio::ONE));
            let (mut work, states) = (Workspace::default(), States::default());
            chain.run(&at, Ratio::ONE, &mut made, &mut work, &states, &host).unwrap();
            for (p, want) in [0.0, 0.4, 0.7, brightest].into_iter().enumerate() {
                let is = f64::from(made.row::<f32>(0, 1)[p]);
                assert!((is - want).abs() < 1e-4, "{depth:?} {p}: {is}, not {want}");
            }
            // Alpha goes through the same depth.
            let alpha = made.row::<f32>(3, 1).iter().zip(source.row::<f32>(3, 1));
            assert!(alpha.into_iter().all(|(is, was)| (is - was).abs() < 1e-5), "{depth:?}");
        }
    }
}
