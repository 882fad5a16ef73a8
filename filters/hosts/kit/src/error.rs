//! Errors for hosts.

use grainfield_filters::host::panic_text;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The error and what would be right, as text, which is all that hosts can show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostError(pub String);

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for HostError {}

impl HostError {
    /// Any error of ours, with causes that its text lacks.
    pub(crate) fn of(error: &dyn std::error::Error) -> HostError {
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let more = error.to_string();
            if !text.contains(&more) {
                text += ": ";
                text += &more;
            }
            cause = error.source();
        }
        HostError(text)
    }
}

/// Runs `f` and converts a panic to an error, since unwinding into a host is undefined behaviour.
///
/// # Errors
/// That of `f`, or that it has panicked.
pub fn guarded<T>(f: impl FnOnce() -> Result<T, HostError>) -> Result<T, HostError> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|panic| {
        let text = panic_text(&*panic);
        Err(HostError(format!("internal error: {text}. Please report it with what led to it")))
    })
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_printed_once() {
        let error = crate::Look::of_chain("sprites=image=/nowhere.png").unwrap_err();
        assert_eq!(error.0.matches("No such file").count(), 1, "{error}");
    }

    #[test]
    fn a_panic_is_an_error() {
        let error = guarded::<()>(|| panic!("frame {}", 3)).unwrap_err();
        assert!(error.0.contains("frame 3"), "{error}");
        assert_eq!(guarded(|| Ok(2)), Ok(2));
    }
}
