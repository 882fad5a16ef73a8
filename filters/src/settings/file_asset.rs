//! Files that a setting names and that only the filter understands.

use core::any::Any;
use core::fmt;
use std::sync::Arc;

/// The name of a file, and its contents after the host has read it.
#[derive(Clone)]
pub struct FileAsset {
    name: String,
    read: Option<(Arc<dyn Any + Send + Sync>, u128)>,
}

impl FileAsset {
    /// A file that has not been read yet.
    pub fn named(name: &str) -> FileAsset {
        FileAsset { name: name.to_owned(), read: None }
    }

    /// The name of the file, as given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The contents, if the file has been read and they have this type.
    pub fn contents<T: Any>(&self) -> Option<&T> {
        self.read.as_ref().and_then(|(what, _)| what.downcast_ref())
    }

    /// The contents.
    ///
    /// # Errors
    /// The file has not been read: a message that names it.
    pub fn require<T: Any>(&self) -> Result<&T, String> {
        self.contents().ok_or_else(|| format!("{} has not been read", self.name))
    }

    /// A hash of the contents; equal contents have equal hashes.
    pub fn digest(&self) -> Option<u128> {
        self.read.as_ref().map(|r| r.1)
    }

    /// The same file with its contents, of the type that the filter expects, and a hash of everything in them
    /// that affects the result.
    #[must_use]
    pub fn read<T: Any + Send + Sync>(self, contents: T, digest: u128) -> FileAsset {
        FileAsset { read: Some((Arc::new(contents), digest)), ..self }
    }
}

/// Files are equal by name, and by hash if they have been read.
impl PartialEq for FileAsset {
    fn eq(&self, o: &FileAsset) -> bool {
        (&self.name, self.digest()) == (&o.name, o.digest())
    }
}

impl fmt::Debug for FileAsset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileAsset({:?}, {:x?})", self.name, self.digest())
    }
}

/// Prints the name.
impl fmt::Display for FileAsset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_of_one_type() {
        let file = FileAsset::named("a.toml");
        assert_eq!((file.contents::<u32>(), file.digest()), (None, None));
        let read = file.clone().read(7u32, 1);
        assert_eq!((read.contents::<u32>(), read.contents::<i32>()), (Some(&7), None));
        assert!(read != file && read != file.clone().read(7u32, 2) && read == file.read(8u32, 1));
    }
}
