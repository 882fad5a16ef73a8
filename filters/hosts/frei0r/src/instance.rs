//! One effect in a host.

use crate::clock;
use crate::plugin::Plugin;
use grainfield_filters::frame::{Depth, Format, Frame, FrameTime};
use grainfield_filters::ratio::Ratio;
use host_kit::params::{Clock, ParamValue, Role, Shape, look};
use host_kit::{BoundLook, HostError, Setup, Threads, guarded, packed};
use std::ffi::{CStr, CString, c_char, c_void};

/// The look and its binding, or an error.
struct Ready {
    bound: BoundLook,
    rate: Option<Ratio>,
    clock: Clock,
    offset: i64,
}

/// An effect: the values of its parameters, and what follows from them, computed when the first frame after a
/// change arrives.
pub(crate) struct Instance {
    plugin: &'static Plugin,
    size: (u32, u32),
    values: Vec<ParamValue>,
    /// The host reads texts in place.
    texts: Vec<CString>,
    ready: Option<Result<Ready, HostError>>,
    frame: Frame,
    told: Option<String>,
}

fn c_text(value: &ParamValue) -> CString {
    let ParamValue::Text(text) = value else { return CString::default() };
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

impl Instance {
    pub(crate) fn new(plugin: &'static Plugin, width: u32, height: u32) -> Instance {
        let values: Vec<ParamValue> = plugin.params.iter().map(|p| p.default()).collect();
        let texts = values.iter().map(c_text).collect();
        let frame = Frame::new(format(1, 1));
        Instance { plugin, size: (width, height), values, texts, ready: None, frame, told: None }
    }

    /// Sets the value of a parameter.
    ///
    /// # Safety
    ///
    /// `value` must point to a value of the parameter's type.
    #[allow(unsafe_code)] // values are passed by address
    pub(crate) unsafe fn set(&mut self, index: usize, value: *const c_void) {
        let Some(param) = self.plugin.params.get(index) else { return };
        // SAFETY: guaranteed by the caller; a text is a pointer to a zero-terminated one, or null.
        let new = unsafe {
            match param.shape {
                Shape::Switch => ParamValue::Switch(value.cast::<f64>().read() >= 0.5),
                Shape::Number(..) => ParamValue::Number(value.cast::<f64>().read()),
                Shape::Colour => ParamValue::Colour(value.cast::<[f32; 3]>().read()),
                Shape::Text => {
                    let text = value.cast::<*const c_char>().read();
                    let text = if text.is_null() { c"" } else { CStr::from_ptr(text) };
                    ParamValue::Text(text.to_string_lossy().into_owned())
                }
            }
        };
        if self.values[index] != new {
            self.texts[index] = c_text(&new);
            self.values[index] = new;
            self.ready = None;
        }
    }

    /// Returns the value of a parameter. A text stays in place until it is changed.
    ///
    /// # Safety
    ///
    /// `value` must point to memory for a value of the parameter's type.
    #[allow(unsafe_code)] // as above
    pub(crate) unsafe fn get(&self, index: usize, value: *mut c_void) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.values.get(index) {
                Some(ParamValue::Switch(on)) => value.cast::<f64>().write(f64::from(u8::from(*on))),
                Some(ParamValue::Number(part)) => value.cast::<f64>().write(*part),
                Some(ParamValue::Colour(parts)) => value.cast::<[f32; 3]>().write(*parts),
                Some(ParamValue::Text(_)) => value.cast::<*const c_char>().write(self.texts[index].as_ptr()),
                None => {}
            }
        }
    }

    /// Renders a frame. An error is printed to standard error once, because frei0r has no other place, and the picture
    /// passes unchanged.
    ///
    /// # Safety
    ///
    /// Both must be pictures of the instance's size; they may be the same.
    #[allow(unsafe_code)] // pictures are passed by address
    pub(crate) unsafe fn update(&mut self, time: f64, input: *const u32, output: *mut u32) {
        let pixels = self.size.0 as usize * self.size.1 as usize;
        if pixels == 0 || input.is_null() || output.is_null() {
            return;
        }
        let made = {
            // SAFETY: guaranteed by the caller; the slice is dropped before the output is written.
            let input = unsafe { core::slice::from_raw_parts(input, pixels) };
            guarded(|| self.make(time, input))
        };
        match made {
            Ok(()) => {
                // SAFETY: guaranteed by the caller; nothing reads the input any more.
                let output = unsafe { core::slice::from_raw_parts_mut(output, pixels) };
                packed::pack::<u8>(&self.frame, RGBA, bytemuck::cast_slice_mut(output));
            }
            Err(error) => {
                if self.told.as_ref() != Some(&error.0) {
                    eprintln!("{}: {error}", self.plugin.name.to_string_lossy());
                    self.told = Some(error.0);
                }
                // SAFETY: as above; the two may overlap.
                unsafe { core::ptr::copy(input, output, pixels) };
            }
        }
    }

    /// Renders a frame in `self.frame`.
    fn make(&mut self, time: f64, input: &[u32]) -> Result<(), HostError> {
        if self.ready.is_none() {
            self.ready = Some(self.prepare());
        }
        let ready = match self.ready.as_ref() {
            Some(Ok(ready)) => ready,
            Some(Err(error)) => return Err(error.clone()),
            None => return Ok(()),
        };
        let own = clock::number(time, ready.rate, ready.clock);
        let number = own.saturating_add(ready.offset).clamp(-(1 << 53), 1 << 53);
        let at = match ready.rate {
            Some(rate) => FrameTime::of_time(number, FrameTime::of_frame(own, rate).time),
            // Each number is a millisecond.
            None => FrameTime::of_time(number, FrameTime::of_frame(own, Ratio::whole(1000)).time),
        };
        self.frame.reset(*ready.bound.input());
        packed::unpack::<u8>(bytemuck::cast_slice(input), RGBA, &mut self.frame);
        ready.bound.run(&at, Threads::Pool, &mut self.frame)
    }

    fn prepare(&self) -> Result<Ready, HostError> {
        let text = |wanted: fn(&Role) -> bool| {
            let found = self.plugin.params.iter().position(|p| wanted(&p.role));
            match found.map(|i| &self.values[i]) {
                Some(ParamValue::Text(text)) => text.trim(),
                _ => "",
            }
        };
        let fail = |text: String| Err(HostError(text));
        let rate = match text(|r| matches!(r, Role::Rate)) {
            "" => None,
            text => match text.parse::<Ratio>() {
                Ok(rate) if rate > Ratio::ZERO => Some(rate),
                _ => return fail(format!("Rate: '{text}' is not a rate: write 24 or 24000/1001")),
            },
        };
        let clock = match text(|r| matches!(r, Role::Clock)) {
            "" | "auto" => Clock::Auto,
            "seconds" => Clock::Seconds,
            "milliseconds" => Clock::Milliseconds,
            text => {
                return fail(format!("Clock: '{text}' is not known: write auto, seconds or milliseconds"));
            }
        };
        let offset = match text(|r| matches!(r, Role::Offset)) {
            "" => 0,
            text => match text.parse::<i64>() {
                Ok(offset) if offset.unsigned_abs() <= 1 << 53 => offset,
                _ => return fail(format!("Offset: '{text}' is not a whole number within 2^53")),
            },
        };
        let look = look(self.plugin.filter, &self.plugin.params, &self.values)?;
        if let Some((_, id, _)) = look.source_frames().first() {
            return fail(format!("{id}: frei0r gives a plugin one frame at a time: give an image instead"));
        }
        let (width, height) = self.size;
        let format = Format { rate: rate.unwrap_or(Ratio::whole(24)), ..format(width, height) };
        let setup = Setup { same_format: true, ..Setup::default() };
        Ok(Ready { bound: BoundLook::bind(&look, format, &setup)?, rate, clock, offset })
    }
}

/// The planes of R, G, B and A.
const RGBA: &[usize] = &[2, 0, 1, 3];

fn format(width: u32, height: u32) -> Format {
    packed::format(width, height, 4, Depth::Bits(8))
}
