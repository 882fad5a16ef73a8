//! An image that a setting names.

use crate::frame::Frame;
use core::fmt;
use std::sync::Arc;

/// An image file by its name, and its picture once whoever hosts the filters has read it.
#[derive(Clone, PartialEq, Debug)]
pub struct ImageAsset {
    name: String,
    frame: Option<Arc<Frame>>,
}

impl ImageAsset {
    /// Not read yet.
    pub fn named(name: &str) -> ImageAsset {
        ImageAsset { name: name.to_owned(), frame: None }
    }

    /// The file's name, as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The picture, if it has been read.
    pub fn frame(&self) -> Option<&Arc<Frame>> {
        self.frame.as_ref()
    }

    /// The same with its picture, which is grey or R, G and B, with or without alpha, of any depth.
    #[must_use]
    pub fn read(self, frame: Frame) -> ImageAsset {
        ImageAsset { frame: Some(Arc::new(frame)), ..self }
    }
}

/// The name.
impl fmt::Display for ImageAsset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
