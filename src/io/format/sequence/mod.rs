//! Image files as a source and as a sink.

pub mod sink;
pub mod source;

use super::images::files::find;
use super::images::pattern::Pattern;
use super::{Files, FormatDescriptor, InputDescriptor, OutputDescriptor};

/// The input and output format.
pub const FORMAT: FormatDescriptor = FormatDescriptor {
    name: "images",
    input: Some(InputDescriptor {
        matches: |name| name != "-" && source::recognises(name),
        open: source::open,
        reads: |name| find(name).map_or_else(|_| Vec::new(), |f| (0..f.len()).map(|i| f.path(i)).collect()),
    }),
    output: Some(OutputDescriptor {
        matches: sink::recognises,
        accepts: |name, format, _| sink::accepts(name, format),
        create: sink::create,
        files: |name| match Pattern::parse(name) {
            Ok(Some(pattern)) => Files::Many(pattern),
            _ => Files::Image(name.into()),
        },
        prefix: "",
        drops_metadata: true,
        allows: sink::allows,
    }),
};
