//! Images that a setting names.

use crate::frame::Frame;
use core::fmt;
use std::sync::Arc;

/// The name of an image file, and its picture after the host has read it.
#[derive(Clone, PartialEq, Debug)]
pub struct ImageAsset {
    name: String,
    frame: Option<Arc<Frame>>,
}

impl ImageAsset {
    /// An image that has not been read yet.
    pub fn named(name: &str) -> ImageAsset {
        ImageAsset { name: name.to_owned(), frame: None }
    }

    /// The name of the file, as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The picture, if the file has been read.
    pub fn frame(&self) -> Option<&Arc<Frame>> {
        self.frame.as_ref()
    }

    /// The picture.
    ///
    /// # Errors
    /// The file has not been read: a message that names it.
    pub fn require(&self) -> Result<&Arc<Frame>, String> {
        self.frame.as_ref().ok_or_else(|| format!("{} has not been read", self.name))
    }

    /// The same image with its picture, which may be grey or RGB, with or without alpha, of any depth.
    #[must_use]
    pub fn read(self, frame: Frame) -> ImageAsset {
        ImageAsset { frame: Some(Arc::new(frame)), ..self }
    }
}

/// Prints the name.
impl fmt::Display for ImageAsset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
