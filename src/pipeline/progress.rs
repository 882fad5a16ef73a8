//! How a pipeline goes on, told.

use grainfield_filters::ratio::Ratio;

/// One frame has been written (or left out).
#[derive(Clone, Copy, Debug)]
pub struct FrameDone {
    /// Frames written so far.
    pub done: u64,
    /// Frames left out because they failed.
    pub failed: u64,
    /// How many there will be, if known.
    pub total: Option<u64>,
    /// The frame's number.
    pub number: i64,
    /// Its end in the output: seconds since the output's first frame.
    pub out_time: Ratio,
    /// It failed and was left out.
    pub left_out: bool,
}

/// Is told how a job goes on. Called from the thread that [`run`](super::run) is called on, one call at a time.
pub trait Progress: Sync {
    /// A frame has been written or left out.
    fn step(&self, step: &FrameDone);
    /// Something the user should know (an assumption, a frame left out).
    fn note(&self, text: &str);
    /// Something is lost that could not be told before the first frame.
    fn warn(&self, text: &str) {
        self.note(text);
    }
    /// No frame comes for a while: one is being stepped to, and `done` frames of `all` have been. Ends with the next
    /// [`step`](Progress::step).
    fn simulating(&self, done: u64, all: u64) {
        let _ = (done, all);
    }
}

/// How a job ended, when it ended well.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Frames written.
    pub frames: u64,
    /// Frames left out because they failed (`--on-error skip`).
    pub failed: u64,
    /// Frames that were whole already (`--resume`).
    pub skipped: u64,
}

/// What to do when one frame fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum OnError {
    /// End the render.
    #[default]
    Stop,
    /// Leave the frame out and go on.
    Skip,
}
