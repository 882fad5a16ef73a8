//! `lavfi`: filters of FFmpeg at any place of a chain.
//!
//! The host runs them: this crate knows only the trait [`FilterLibrary`]. They see one picture at a time, so that any
//! frame can be rendered first. They work at the depth of the chain, or at the next lower one that they take; a chain of
//! more bits is reduced with dither before them, as before `av1grain`.

use super::convert::with_matrix_of;
use super::{Band, Entry, Filter, Memory, Plan, Reach, Render, Role, Spec};
use crate::frame::{
    ExternalFilter, FilterLibrary, Format, Frame, FrameRef, FrameTime, PictureStructure, Scratch,
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

settings! {
    struct LavfiSettings {
        /// Filters of FFmpeg in its own notation, in quotes: `lavfi='hue=s=0,unsharp'`. Those that look at one frame and read
        /// no file; without any nothing changes. They may change the size, not the pixel format.
        graph: Option<String> = text().label("FFmpeg filters"),
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
        library.bind(graph, input).map(Some).map_err(|e| SettingError::new("graph", e))
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
    use crate::frame::Depth;
    use crate::host::{CurrentThread, Host, NoCache};
    use core::sync::atomic::AtomicBool;

    /// Mirrors pictures of at most 10 bits from top to bottom, and fails from second 2 on.
    #[derive(Debug)]
    struct Upside;
    struct Down(Format);

    impl FilterLibrary for Upside {
        fn bind(&self, text: &str, input: &Format) -> Result<Box<dyn ExternalFilter>, String> {
            let bits = input.depth.bits().unwrap_or(10).min(10);
            if text == "down" {
                Ok(Box::new(Down(Format { depth: Depth::Bits(bits), ..*input })))
            } else {
                Err("it is not down".into())
            }
        }
    }

    impl ExternalFilter for Down {
        fn input(&self) -> &Format {
            &self.0
        }

        fn size(&self) -> (usize, usize) {
            self.0.plane_size(0)
        }

        fn filter(&self, picture: FrameRef<'_>, time: Ratio, out: &mut Frame) -> Result<(), String> {
            assert_eq!((picture.format, *out.format()), (self.0, self.0));
            for p in 0..self.0.planes() {
                let height = self.0.plane_size(p).1;
                (0..height).for_each(|y| {
                    out.row_bytes_mut(p, y).copy_from_slice(picture.plane(p).row_bytes(height - 1 - y))
                });
            }
            if time < Ratio::whole(2) { Ok(()) } else { Err("it is too late".into()) }
        }
    }

    fn chain(format: Format, graph: &str, library: bool) -> Result<Chain, ChainError> {
        let mut values = Values::new(ENTRY.settings);
        values.set("graph", crate::settings::Value::Text(graph.into())).unwrap();
        if library {
            values.supply_library(Arc::new(Upside));
        }
        let steps = [Step::new(crate::catalog::find("lavfi").unwrap(), values)];
        let options = Options {
            seed: 1,
            level: Level::best(),
            first: 0,
            last: None,
            fields: Fields::of(format.fields),
        };
        Chain::bind(&steps, format, &options, |made| Ok(*made))
    }

    #[test]
    fn whole_pictures_and_fields_go_through_the_library_in_a_depth_that_it_takes() {
        use crate::frame::FieldOrder;
        for (name, fields, exact) in [
            ("yuv420p", FieldOrder::Progressive, true),
            ("gray10", FieldOrder::TopFirst, true),
            ("gbrap16", FieldOrder::Progressive, false),
        ] {
            let format = Format { fields, ..Format::from_name(name, 9, 260).unwrap() };
            let mut frame = Frame::new(format);
            for (p, y) in (0..format.planes()).flat_map(|p| (0..format.plane_size(p).1).map(move |y| (p, y)))
            {
                frame.row_bytes_mut(p, y).fill((y % 200) as u8 & if name == "gray10" { 3 } else { 255 });
            }
            let chain = chain(format, "down", true).unwrap();
            let host = Host { executor: &CurrentThread, cache: &NoCache, stop: &AtomicBool::new(false) };
            let run = |second: i64| {
                let mut made = frame.clone();
                let at = FrameTime::of_time(second, Ratio::whole(second));
                let done = chain.run(
                    &at,
                    Ratio::ONE,
                    &mut made,
                    &mut Workspace::default(),
                    &States::default(),
                    &host,
                );
                done.map(|()| made)
            };
            let made = run(1).unwrap();
            for (p, y) in (0..format.planes()).flat_map(|p| (0..format.plane_size(p).1).map(move |y| (p, y)))
            {
                let (height, each) =
                    (format.plane_size(p).1, if fields == FieldOrder::Progressive { 1 } else { 2 });
                let from = height - each - y / each * each + y % each;
                let same = made.plane(p).row_bytes(y)[1].abs_diff(frame.plane(p).row_bytes(from)[1]) <= 1;
                assert!(
                    if exact { made.plane(p).row_bytes(y) == frame.plane(p).row_bytes(from) } else { same },
                    "{name} {p} {y}"
                );
            }
            let failed = run(2).unwrap_err().to_string();
            assert!(failed.contains("lavfi") && failed.contains("too late"), "{failed}");
        }
    }

    #[test]
    fn graphs_are_refused_with_the_reason_and_without_a_library() {
        let format = Format::from_name("yuv420p", 9, 7).unwrap();
        let problem = |graph, library| chain(format, graph, library).unwrap_err().to_string();
        assert!(problem("up", true).contains("it is not down"));
        assert!(problem("down", false).contains("built with FFmpeg"));
        assert!(chain(format, " ", false).is_ok());
    }
}
