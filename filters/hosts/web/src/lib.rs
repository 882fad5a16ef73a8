//! Grainfield as WebAssembly, for `npm/index.js`, which a page or Node loads.
//!
//! There is one buffer. JavaScript writes a request as JSON, or a picture as RGBA, at the address that [`buffer`] returns;
//! the answer is in the same place. So no address from outside is ever read here.
#![allow(unsafe_code)] // exported names: `no_mangle`

mod pixels;

use grainfield_filters::catalog::FILTERS;
use grainfield_filters::forms::catalog::FilterForm;
use grainfield_filters::forms::curve::{CurveRequest, draw};
use grainfield_filters::forms::looks::LookForm;
use grainfield_filters::forms::recipe::{
    AnyText, Checked, FormatForm, RecipeFault, RecipeText, parse, place, read,
};
use grainfield_filters::frame::{Depth, Format, Frame, FrameTime};
use grainfield_filters::ratio::Ratio;
use host_kit::{BoundLook, HostError, Look, Setup, Threads, packed};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cell::RefCell;

/// The largest number of pixels of a picture, of the input and of the result.
const MAX_PIXELS: u64 = 7680 * 4320;
/// The largest request in bytes.
const MAX_TEXT: usize = 1 << 20;

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    bound: Option<(BoundLook, Frame)>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// A source of pictures.
#[derive(Deserialize)]
struct Clip {
    width: u32,
    height: u32,
    /// Whether there is an alpha channel.
    alpha: bool,
    /// Frames a second, as a fraction.
    rate: [i64; 2],
    /// The number of the last frame, if it is known.
    last: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", tag = "ask")]
enum Request {
    /// All filters.
    Catalog,
    /// The built-in looks.
    Looks,
    /// Checks a recipe, for a source if one is given.
    Recipe {
        clip: Option<Clip>,
        #[serde(flatten)]
        text: AnyText,
    },
    /// The keys and samples of a curve.
    Curve {
        of: Option<Clip>,
        #[serde(flatten)]
        curve: CurveRequest,
    },
    /// Prepares a chain for [`render`].
    Bind { chain: String, seed: Option<String>, clip: Clip },
}

/// The buffer, with room for this many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn buffer(len: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        if state.buffer.len() < len {
            state.buffer.resize(len, 0);
        }
        state.buffer.as_mut_ptr()
    })
}

/// Answers the request of `len` bytes in the buffer, with `{"answer": …}` or `{"error": …}`; returns how long that is.
#[unsafe(no_mangle)]
pub extern "C" fn ask(len: usize) -> usize {
    STATE.with_borrow_mut(|state| {
        let request = state.buffer.get(..len.min(MAX_TEXT + 1)).unwrap_or_default();
        let answer = match request {
            long if long.len() > MAX_TEXT => {
                Err(RecipeFault::new(format!("a request has at most {MAX_TEXT} bytes")))
            }
            request => serde_json::from_slice(request)
                .map_err(RecipeFault::new)
                .and_then(|request| answer(request, &mut state.bound)),
        };
        let told = answer.map_or_else(|e| json!({ "error": e }), |answer| json!({ "answer": answer }));
        state.put(told.to_string().as_bytes())
    })
}

/// Renders frame `number` of the chain that was bound last: the picture in the buffer becomes the result. Returns 0, or
/// how long the text of an error in the buffer is.
#[unsafe(no_mangle)]
pub extern "C" fn render(number: f64) -> usize {
    STATE.with_borrow_mut(|state| match state.render(number) {
        Ok(()) => 0,
        Err(error) => state.put(error.0.as_bytes()),
    })
}

impl State {
    fn put(&mut self, bytes: &[u8]) -> usize {
        if self.buffer.len() < bytes.len() {
            self.buffer.resize(bytes.len(), 0);
        }
        self.buffer[..bytes.len()].copy_from_slice(bytes);
        bytes.len()
    }

    fn render(&mut self, number: f64) -> Result<(), HostError> {
        let Some((bound, frame)) = &mut self.bound else { return Err(HostError("nothing is bound".into())) };
        // Whole numbers that a double holds.
        if number.fract() != 0.0 || number.abs() > 9e15 {
            return Err(HostError(format!("frame {number}: write a whole number")));
        }
        let input = *bound.input();
        let size = 4 * pixels::count(&input).max(pixels::count(bound.output()));
        if self.buffer.len() < size {
            return Err(HostError(format!("a picture of {} by {} is missing", input.width, input.height)));
        }
        frame.reset(input);
        pixels::unpack(&self.buffer, frame);
        bound.run(&FrameTime::of_frame(number as i64, input.rate), Threads::Caller, frame)?;
        pixels::pack(frame, &mut self.buffer);
        Ok(())
    }
}

fn answer(request: Request, bound: &mut Option<(BoundLook, Frame)>) -> Result<Value, RecipeFault> {
    Ok(match request {
        Request::Catalog => json(FILTERS.iter().map(FilterForm::of).collect::<Vec<_>>())?,
        Request::Looks => json(LookForm::built_in().collect::<Vec<_>>())?,
        Request::Recipe { clip, text } => json(check(text.read()?, clip)?)?,
        Request::Curve { of, curve } => {
            let rate = of.as_ref().map_or(Ok(Ratio::whole(24)), rate)?;
            json(draw(&curve, (0, of.and_then(|clip| clip.last)), rate)?)?
        }
        Request::Bind { chain, seed, clip } => {
            let seed = seed
                .map(|s| {
                    s.parse().map_err(|_| {
                        RecipeFault::new(format!("seed: '{s}' is not from 0 to 18446744073709551615"))
                    })
                })
                .transpose()?;
            let recipe = parse(&chain, true)?;
            let look = Look::of_recipe(read(&recipe).on).map_err(RecipeFault::new)?.seeded(seed);
            let new = bind(&look, &clip)?;
            let made = *new.output();
            *bound = Some((new, Frame::new(made)));
            json(FormatForm::of(&made))?
        }
    })
}

fn json(value: impl Serialize) -> Result<Value, RecipeFault> {
    serde_json::to_value(value).map_err(RecipeFault::new)
}

/// What is wrong with a recipe, also for a source.
fn check(text: RecipeText, clip: Option<Clip>) -> Result<Checked, RecipeFault> {
    let mut read = read(&text);
    let mut made = None;
    let at = |step: usize, id: &str, why: String| RecipeFault {
        step: place(&text, step),
        setting: Some(id.into()),
        ..RecipeFault::new(why)
    };
    let look = Look::unread(read.on.clone());
    let files = look.files().into_iter();
    read.faults
        .extend(files.map(|(step, id, name)| {
            at(step, id, format!("{name}: a page reads no files; the program does"))
        }));
    read.faults.extend(look.source_frames().into_iter().map(|(step, id, n)| {
        at(step, id, format!("frame {n} of the source: only the program has other frames"))
    }));
    if let (true, Some(clip)) = (read.faults.is_empty(), clip) {
        match bind(&look, &clip) {
            Ok(bound) => made = Some(FormatForm::of(bound.output())),
            Err(fault) => read.faults.push(fault),
        }
    }
    Ok(Checked { made, ..Checked::new(text, &read) })
}

fn rate(clip: &Clip) -> Result<Ratio, RecipeFault> {
    let rate = Ratio::new(clip.rate[0], clip.rate[1]).filter(|r| *r > Ratio::ZERO);
    rate.ok_or_else(|| RecipeFault::new("rate: frames a second, above zero, as [24000, 1001]"))
}

fn bind(look: &Look, clip: &Clip) -> Result<BoundLook, RecipeFault> {
    let format = packed::format(clip.width, clip.height, if clip.alpha { 4 } else { 3 }, Depth::Bits(8));
    let format = Format { rate: rate(clip)?, ..format };
    let small = |format: &Format| {
        if u64::from(format.width) * u64::from(format.height) <= MAX_PIXELS {
            return Ok(());
        }
        let (width, height) = (format.width, format.height);
        Err(RecipeFault::new(format!("{width}x{height}: at most {MAX_PIXELS} pixels here, as 7680x4320 has")))
    };
    small(&format)?;
    let setup = Setup { last: clip.last, ..Setup::default() };
    let bound = BoundLook::bind(look, format, &setup).map_err(RecipeFault::new)?;
    small(bound.output())?;
    if bound.output().depth != Depth::Bits(8) || bound.output().planes() != format.planes() {
        return Err(RecipeFault::new("filters that change the depth or the channels are not supported here"));
    }
    Ok(bound)
}
