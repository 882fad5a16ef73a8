//! What is finished, from what, by which settings: [manifests](resume), [shards](shard) and [segments].

mod frame_list;
pub mod keep;
pub mod resume;
pub mod segments;
pub mod shard;

pub use frame_list::FrameList;
