//! What is finished, from what, by which settings: [manifests](resume), [shards](shard) and [segments](segments).

pub mod resume;
pub mod segments;
pub mod shard;
