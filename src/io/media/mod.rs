//! The interfaces of sources and sinks: the contract between formats and all code that reads and writes
//! frames.

pub mod sink;
pub mod source;

pub use sink::{Encode, FrameClock, Plain, Plan, Rescue, Sink, SinkError};
pub(crate) use source::TIMECODE;
pub use source::{
    Carried, Decode, Done, FrameStamp, Info, Length, Missing, Options, Pending, Slot, Source, SourceError,
};
