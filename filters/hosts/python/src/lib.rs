//! Grainfield for Python: the native part of the package `grainfield`. A [`Look`] is bound to a size and a depth; the
//! resulting [`Bound`] filters frames in NumPy arrays, channels last, without holding the interpreter's lock.

use grainfield_filters::chain::Fields;
use grainfield_filters::frame::{Depth, Frame, FrameTime, Parity, Transfer};
use grainfield_filters::host::{Executor, lock};
use grainfield_filters::ratio::Ratio;
use host_kit::{Argument, BoundLook, HostError, Setup, Threads, WorkPool, packed};
use numpy::{PyReadonlyArrayDyn, PyReadwriteArrayDyn};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

create_exception!(
    grainfield,
    Error,
    PyValueError,
    "An error in the arguments: what is wrong, and what is accepted."
);

fn raise(error: HostError) -> PyErr {
    Error::new_err(error.0)
}

fn fail<T>(text: impl Into<String>) -> PyResult<T> {
    Err(raise(HostError(text.into())))
}

/// Filters with their settings, and the files that they name, already read.
#[pyclass(frozen, module = "grainfield._native")]
struct Look(host_kit::Look);

#[pymethods]
impl Look {
    #[new]
    #[pyo3(signature = (chain=None, recipe=None, seed=None))]
    fn new(
        py: Python<'_>,
        chain: Option<String>,
        recipe: Option<PathBuf>,
        seed: Option<u64>,
    ) -> PyResult<Look> {
        let read = move || {
            let file = recipe.map(|path| host_kit::Look::of_file(&path)).transpose()?;
            let chain = chain.map(|text| host_kit::Look::of_chain(&text)).transpose()?;
            Ok(file.unwrap_or_default().then(chain.unwrap_or_default()).seeded(seed))
        };
        let look: Result<host_kit::Look, HostError> = py.detach(read);
        let look = look.map_err(raise)?;
        if let Some((_, id, _)) = look.source_frames().first() {
            return fail(format!("{id}: there is no source to take a frame of here: give an image instead"));
        }
        Ok(Look(look))
    }

    /// The filters as a chain, every setting written out.
    #[getter]
    fn chain(&self) -> String {
        self.0.recipe().canonical()
    }

    /// Binds it to pictures of this size, number of channels (1 to 4) and depth in bits (0 for float).
    #[allow(clippy::too_many_arguments)] // named in Python
    #[pyo3(signature = (height, width, channels, bits, rate, last, fields, transfer))]
    fn bind(
        &self,
        height: usize,
        width: usize,
        channels: usize,
        bits: u8,
        rate: &str,
        last: Option<i64>,
        fields: &str,
        transfer: &str,
    ) -> PyResult<Bound> {
        let Some(order) = packed::planes(channels) else {
            return fail(format!(
                "{channels} channels: 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA) are accepted"
            ));
        };
        let fields = match fields {
            "frame" => Fields::Frame,
            "top" => Fields::First(Parity::Top),
            "bottom" => Fields::First(Parity::Bottom),
            other => return fail(format!("fields: '{other}' is not known: write frame, top or bottom")),
        };
        let rate = rate.parse::<Ratio>().ok().filter(|r| *r > Ratio::ZERO);
        let Some(rate) = rate else {
            return fail("rate: frames a second, above zero, such as 24 or '24000/1001'");
        };
        let known = Transfer::from_name(if transfer == "srgb" { "iec61966-2-1" } else { transfer });
        let Some(transfer) = known else {
            return fail(format!(
                "transfer: '{transfer}' is not known: srgb, linear, bt709, smpte2084 and others are"
            ));
        };
        let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let depth = if bits == 0 { Depth::Float } else { Depth::Bits(bits) };
        let mut format = packed::format(side(width), side(height), channels, depth);
        (format.rate, format.transfer) = (rate, transfer);
        let setup = Setup { last, fields: Some(fields), ..Setup::default() };
        let bound = Arc::new(BoundLook::bind(&self.0, format, &setup).map_err(raise)?);
        let output = bound.output();
        if (output.planes(), output.width, output.height) != (channels, format.width, format.height) {
            return fail("filters that change the size or the channels are not supported here");
        }
        Ok(Bound { bound, order, rate })
    }
}

/// A look bound to a size and a depth.
#[pyclass(frozen, module = "grainfield._native")]
struct Bound {
    bound: Arc<BoundLook>,
    order: &'static [usize],
    rate: Ratio,
}

/// Samples to read.
enum Source<'py> {
    U8(PyReadonlyArrayDyn<'py, u8>),
    U16(PyReadonlyArrayDyn<'py, u16>),
    F32(PyReadonlyArrayDyn<'py, f32>),
}

/// Samples to write.
enum Target<'py> {
    U8(PyReadwriteArrayDyn<'py, u8>),
    U16(PyReadwriteArrayDyn<'py, u16>),
    F32(PyReadwriteArrayDyn<'py, f32>),
}

impl<'py> Source<'py> {
    fn of(array: &pyo3::Bound<'py, PyAny>, depth: Depth) -> PyResult<Source<'py>> {
        Ok(match depth.bytes() {
            1 => Source::U8(array.extract()?),
            2 => Source::U16(array.extract()?),
            _ => Source::F32(array.extract()?),
        })
    }

    fn bytes(&self) -> PyResult<&[u8]> {
        Ok(match self {
            Source::U8(a) => a.as_slice()?,
            Source::U16(a) => bytemuck::cast_slice(a.as_slice()?),
            Source::F32(a) => bytemuck::cast_slice(a.as_slice()?),
        })
    }
}

impl<'py> Target<'py> {
    fn of(array: &pyo3::Bound<'py, PyAny>, depth: Depth) -> PyResult<Target<'py>> {
        Ok(match depth.bytes() {
            1 => Target::U8(array.extract()?),
            2 => Target::U16(array.extract()?),
            _ => Target::F32(array.extract()?),
        })
    }

    fn bytes(&mut self) -> PyResult<&mut [u8]> {
        Ok(match self {
            Target::U8(a) => a.as_slice_mut()?,
            Target::U16(a) => bytemuck::cast_slice_mut(a.as_slice_mut()?),
            Target::F32(a) => bytemuck::cast_slice_mut(a.as_slice_mut()?),
        })
    }
}

#[pymethods]
impl Bound {
    /// Bits per sample of the output; 0 for float.
    #[getter]
    fn bits(&self) -> u8 {
        self.bound.output().depth.bits().unwrap_or(0)
    }

    /// Filters the frames `start`, `start + 1` and so on of contiguous arrays: from `source` to `target`, or in
    /// place.
    #[pyo3(signature = (source, target, start))]
    fn run(
        &self,
        py: Python<'_>,
        source: Option<pyo3::Bound<'_, PyAny>>,
        target: pyo3::Bound<'_, PyAny>,
        start: i64,
    ) -> PyResult<()> {
        let (input, output) = (self.bound.input(), self.bound.output());
        let source = source.map(|array| Source::of(&array, input.depth)).transpose()?;
        let mut target = Target::of(&target, output.depth)?;
        let from = source.as_ref().map(Source::bytes).transpose()?;
        let to = target.bytes()?;
        let count = to.len() / output.frame_bytes();
        let right = |len: usize, frame: usize| len == count * frame;
        if !right(to.len(), output.frame_bytes())
            || !from.map_or(input.depth == output.depth, |from| right(from.len(), input.frame_bytes()))
        {
            return fail("the arrays do not have the shape and type that was bound");
        }
        if start.unsigned_abs().saturating_add(count as u64) > 1 << 53 {
            return fail(format!("frame {start}: numbers must stay within 2^53 of zero"));
        }
        // In batches, so that the user can interrupt.
        let batch = 4 * WorkPool::get().width();
        for (i, to) in to.chunks_mut(batch * output.frame_bytes()).enumerate() {
            py.check_signals()?;
            let from = from.map(|from| &from[i * batch * input.frame_bytes()..]);
            let first = start + (i * batch) as i64;
            py.detach(|| self.frames(from, to, first)).map_err(raise)?;
        }
        Ok(())
    }
}

impl Bound {
    /// Filters consecutive frames on all threads: one frame per thread, or bands for a single frame and for
    /// simulations.
    fn frames(&self, from: Option<&[u8]>, to: &mut [u8], first: i64) -> Result<(), HostError> {
        let (input, output) = (self.bound.input().frame_bytes(), self.bound.output().frame_bytes());
        let frames = to.chunks_mut(output).enumerate().map(|(i, to)| {
            let from = from.map(|from| &from[i * input..(i + 1) * input]);
            (first + i as i64, from, to)
        });
        let mut frames: Vec<_> = frames.map(|frame| Mutex::new(Some(frame))).collect();
        if frames.len() == 1 || self.bound.is_simulation() {
            let mut picture = Frame::new(*self.bound.input());
            for frame in &mut frames {
                let frame = frame.get_mut().unwrap_or_else(PoisonError::into_inner).take();
                let Some((number, from, to)) = frame else { continue };
                self.one(number, Threads::Pool, from, to, &mut picture)?;
            }
            return Ok(());
        }
        let spare = Mutex::new(Vec::new());
        let fault = Mutex::new(None);
        WorkPool::get().execute(frames.len(), &|i| {
            let frame = lock(&frames[i]).take();
            let Some((number, from, to)) = frame else { return };
            let lent = lock(&spare).pop();
            let mut picture = lent.unwrap_or_else(|| Frame::new(*self.bound.input()));
            if let Err(error) = self.one(number, Threads::Caller, from, to, &mut picture) {
                lock(&fault).get_or_insert(error);
            }
            lock(&spare).push(picture);
        });
        let fault = fault.into_inner().unwrap_or_else(PoisonError::into_inner);
        fault.map_or(Ok(()), Err)
    }

    fn one(
        &self,
        number: i64,
        threads: Threads,
        from: Option<&[u8]>,
        to: &mut [u8],
        frame: &mut Frame,
    ) -> Result<(), HostError> {
        frame.reset(*self.bound.input());
        let from = from.unwrap_or(to);
        match frame.format().depth.bytes() {
            1 => packed::unpack::<u8>(from, self.order, frame),
            2 => packed::unpack::<u16>(bytemuck::cast_slice(from), self.order, frame),
            _ => packed::unpack::<f32>(bytemuck::cast_slice(from), self.order, frame),
        }
        self.bound.run(&FrameTime::of_frame(number, self.rate), threads, frame)?;
        match frame.format().depth.bytes() {
            1 => packed::pack::<u8>(frame, self.order, to),
            2 => packed::pack::<u16>(frame, self.order, bytemuck::cast_slice_mut(to)),
            _ => packed::pack::<f32>(frame, self.order, bytemuck::cast_slice_mut(to)),
        }
        Ok(())
    }
}

/// The chain for a filter's name and arguments: ids, each with its values as text.
#[pyfunction]
fn chain_text(filter: &str, arguments: Vec<(String, Vec<String>)>) -> PyResult<String> {
    let Some(entry) = grainfield_filters::catalog::find(filter) else {
        return fail(format!("there is no filter '{filter}'"));
    };
    let mut all = Vec::new();
    for (id, values) in arguments {
        let mut settings = entry.settings.iter().chain(&grainfield_filters::settings::common::COMMON);
        let Some(setting) = settings.find(|s| s.id == id) else {
            return fail(format!("'{filter}' has no setting '{id}'"));
        };
        all.push(Argument { setting, values });
    }
    Ok(host_kit::chain_text(filter, &all))
}

#[pymodule]
fn _native(module: &pyo3::Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Look>()?;
    module.add_class::<Bound>()?;
    module.add_function(wrap_pyfunction!(chain_text, module)?)?;
    module.add("Error", module.py().get_type::<Error>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
