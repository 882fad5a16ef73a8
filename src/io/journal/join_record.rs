//! The data for joining a file that contains a part of a render, in addition to its bytes.

use crate::journal::shard::ShardRecord;
use serde::{Deserialize, Serialize};

/// A packet of a picture, as its encoder returned it: presentation time and duration in ticks, and libav's flags.
pub type PacketRecord = (i64, i64, i32);

/// HDR10's static metadata.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Hdr {
    /// libav's `AVMasteringDisplayMetadata`, which the bindings lack. Its fields are part of libav's interface: ten
    /// fractions, and whether primaries and luminance are known.
    pub display: Option<[i32; 22]>,
    /// libav's `AVContentLightMetadata`: the maximum of a sample and of a frame's average, in cd/m2.
    pub light: Option<[u32; 2]>,
}

/// The data for joining a shard or a segment.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JoinRecord {
    /// For a shard, the part and the render.
    pub shard: Option<ShardRecord>,
    /// The packets of a video's picture, in the order of the file. Containers round times, and few store durations and
    /// flags.
    pub packets: Vec<PacketRecord>,
    /// The metadata that the encoder of a segment got for its header.
    pub hdr: Hdr,
}
