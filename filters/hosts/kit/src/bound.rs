//! A look bound to a format, ready to render any frame.

use super::memory::MemoryCache;
use super::{Earlier, HostError, Look, WorkPool, float, guarded};
use grainfield_filters::chain::{Chain, ChainError, Fields, Options, States, Workspace};
use grainfield_filters::frame::{ClipDetails, Format, Frame, FrameMut, FrameRef, FrameTime, SecondInput};
use grainfield_filters::host::{CurrentThread, Executor, Host};
use grainfield_filters::ratio::Ratio;
use grainfield_filters::simd::{Isa, Level};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The environment variable that lowers the instruction level, as in the command line.
const LEVEL: &str = "GRAINFIELD_LEVEL";

/// The named level if the machine has it, else the machine's best.
fn level(named: Option<&str>) -> Result<Level, HostError> {
    let isa = named.filter(|name| !name.is_empty()).map(str::parse::<Isa>).transpose();
    let isa = isa.map_err(|e| HostError(format!("{LEVEL}={}: {e}", named.unwrap_or_default())))?;
    Ok(isa.and_then(Level::of).unwrap_or_else(Level::best))
}

/// The options of a binding, besides the format.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The number of the source's last frame, for keys that count from the end.
    pub last: Option<i64>,
    /// How interlaced pictures are filtered; `None` follows the format.
    pub fields: Option<Fields>,
    /// The filters of earlier calls.
    pub earlier: Earlier,
    /// Whether the output must have the input's format; otherwise filters may change it.
    pub same_format: bool,
}

/// The threads that render a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Threads {
    /// The caller's only: the host renders many frames at the same time.
    Caller,
    /// All threads of the process.
    Pool,
}

/// A look bound to a format. Frames may be rendered in any order and on any number of threads at the same time.
#[derive(Debug)]
pub struct BoundLook {
    chain: Chain,
    states: States,
    work: Mutex<Vec<Workspace>>,
    cache: MemoryCache,
    stop: AtomicBool,
}

impl BoundLook {
    /// Binds a look. Frames of the source that settings name must be supplied before.
    ///
    /// # Errors
    /// A filter rejects its settings or the format, or a curve needs the last frame, which is not known.
    pub fn bind(look: &Look, format: Format, setup: &Setup) -> Result<BoundLook, HostError> {
        format.check().map_err(|e| HostError::of(&e))?;
        let (mut steps, seed) = setup.earlier.seeds(&look.recipe);
        let details = Arc::new(ClipDetails { seed: look.recipe.seed.unwrap_or(0), ..ClipDetails::default() });
        steps.iter_mut().for_each(|step| step.values.supply_details(Arc::clone(&details)));
        let fields = setup.fields.unwrap_or(Fields::of(format.fields));
        let options = Options {
            seed,
            level: level(std::env::var(LEVEL).ok().as_deref())?,
            first: 0,
            last: setup.last,
            fields,
        };
        let target = |made: &Format| Ok(if setup.same_format { format } else { *made });
        let bind = || Chain::bind::<ChainError>(&steps, format, &options, target);
        let chain = guarded(|| float::expected(bind).map_err(|e| HostError::of(&e)))?;
        Ok(BoundLook {
            chain,
            states: States::default(),
            work: Mutex::default(),
            cache: MemoryCache::default(),
            stop: AtomicBool::new(false),
        })
    }

    /// The format of the input.
    pub fn input(&self) -> &Format {
        self.chain.input()
    }

    /// The format of the output.
    pub fn output(&self) -> &Format {
        self.chain.output()
    }

    /// Whether frames depend on earlier frames.
    pub fn is_simulation(&self) -> bool {
        self.chain.is_simulation()
    }

    /// The pictures of second inputs that the frame at a time may read: see [`Chain::second_pictures`].
    pub fn second_pictures(&self, at: &FrameTime) -> Vec<(&dyn SecondInput, i64)> {
        float::expected(|| self.chain.second_pictures(at, self.duration()))
    }

    /// Renders the frame at a time, from planes of the host to planes of the host.
    ///
    /// # Errors
    /// A filter cannot prepare the frame.
    pub fn run_between(
        &self,
        at: &FrameTime,
        threads: Threads,
        input: FrameRef<'_>,
        output: FrameMut<'_>,
    ) -> Result<(), HostError> {
        let duration = self.duration();
        self.with(threads, |work, host| {
            self.chain.run_between(at, duration, input, output, work, &self.states, host)
        })
    }

    /// The same in place in a frame.
    ///
    /// # Errors
    /// A filter cannot prepare the frame.
    pub fn run(&self, at: &FrameTime, threads: Threads, frame: &mut Frame) -> Result<(), HostError> {
        let duration = self.duration();
        self.with(threads, |work, host| self.chain.run(at, duration, frame, work, &self.states, host))
    }

    fn duration(&self) -> Ratio {
        self.input().rate.recip().unwrap_or(Ratio::ZERO)
    }

    fn with(
        &self,
        threads: Threads,
        run: impl FnOnce(&mut Workspace, &Host<'_>) -> Result<(), grainfield_filters::host::PrepareError>,
    ) -> Result<(), HostError> {
        // Never wait for the lock: a fork may have left it locked.
        let mut work = self.work.try_lock().ok().and_then(|mut all| all.pop()).unwrap_or_default();
        let pool = (threads == Threads::Pool).then(WorkPool::get);
        let executor: &dyn Executor = pool.as_ref().map_or(&CurrentThread, |pool| pool as &dyn Executor);
        let host = Host { executor, cache: &self.cache, stop: &self.stop };
        let done = guarded(|| float::expected(|| run(&mut work, &host)).map_err(|e| HostError::of(&e)));
        if let (Ok(mut all), true) = (self.work.try_lock(), done.is_ok()) {
            all.push(work);
        }
        done
    }
}

/// A picture in R, G and B, 8 bits, for a setting that names a frame of the source.
///
/// # Errors
/// The picture cannot be converted to R, G and B.
pub fn still(picture: FrameRef<'_>) -> Result<Frame, HostError> {
    guarded(|| grainfield_filters::chain::still(picture).map_err(|e| HostError::of(&*e)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(format: &Format) -> Frame {
        let mut frame = Frame::new(*format);
        for p in 0..format.planes() {
            for y in 0..format.plane_size(p).1 {
                frame
                    .row_bytes_mut(p, y)
                    .iter_mut()
                    .enumerate()
                    .for_each(|(x, b)| *b = (x * 7 + y * 3 + p) as u8);
            }
        }
        frame
    }

    #[test]
    fn two_calls_are_one_chain() {
        let format = Format::from_name("yuv420p", 64, 48).unwrap();
        let at = FrameTime::of_frame(5, Ratio::whole(24));
        let run = |look: &Look, earlier: &Earlier, frame: &mut Frame| {
            let setup = Setup { earlier: earlier.clone(), ..Setup::default() };
            BoundLook::bind(look, format, &setup).unwrap().run(&at, Threads::Pool, frame).unwrap();
        };
        let one = Look::of_chain("noise=strength=20").unwrap().seeded(Some(9));
        let both = Look::of_chain("noise=strength=20,noise=strength=20").unwrap().seeded(Some(9));
        let (mut series, mut chain, mut blind) = (frame(&format), frame(&format), frame(&format));
        run(&both, &Earlier::default(), &mut chain);
        run(&one, &Earlier::default(), &mut series);
        run(&one, &Earlier::default().and(one.recipe()), &mut series);
        assert!(series == chain);
        run(&one, &Earlier::default(), &mut blind);
        run(&one, &Earlier::default(), &mut blind);
        assert!(blind != chain);
    }

    #[test]
    fn planes_and_frames_are_equal_on_any_threads() {
        let format = Format::from_name("gbrap16", 40, 31).unwrap();
        let look = Look::of_chain("grain=preset=16mm,blur=sigma=9").unwrap();
        let bound = BoundLook::bind(&look, format, &Setup::default()).unwrap();
        let at = FrameTime::of_frame(11, Ratio::whole(24));
        let input = frame(&format);
        let mut whole = input.clone();
        bound.run(&at, Threads::Caller, &mut whole).unwrap();
        let mut between = Frame::new(format);
        bound.run_between(&at, Threads::Pool, input.as_ref(), between.as_mut()).unwrap();
        assert!(whole == between && whole != input);
    }

    #[test]
    fn a_level_can_be_named() {
        assert_eq!(level(None).unwrap(), Level::best());
        assert_eq!(level(Some("scalar")).unwrap(), Level::SCALAR);
        assert_eq!(level(Some("avx512vbmi")).unwrap(), Level::best());
        assert!(level(Some("mmx")).unwrap_err().0.starts_with("GRAINFIELD_LEVEL=mmx: "));
    }

    #[test]
    fn errors_are_text() {
        let format = Format::from_name("gray", 8, 8).unwrap();
        let error = Look::of_chain("noise=strenght=3").unwrap_err();
        assert!(error.0.contains("strenght") && error.0.contains("'strength'"), "{error}");
        let look = Look::of_chain("noise=strength='0=0;-1=3'").unwrap();
        assert!(BoundLook::bind(&look, format, &Setup::default()).is_err());
        let last = Setup { last: Some(9), ..Setup::default() };
        assert!(BoundLook::bind(&look, format, &last).is_ok());
        assert!(Look::of_chain("sprites=image=/nowhere.png").unwrap_err().0.contains("/nowhere.png"));
        let wide = Format { width: 1 << 20, ..format };
        assert!(BoundLook::bind(&look, wide, &last).is_err());
    }
}
