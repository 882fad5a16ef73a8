//! The filter of a library.

use grainfield_filters::catalog::{Entry, find};
use host_kit::params::{Param, Shape, params};
use std::ffi::{CString, c_int};
use std::path::PathBuf;
use std::sync::OnceLock;

/// A library, identified by its file name.
pub(crate) struct Plugin {
    /// The filter; `None` takes recipes.
    pub(crate) filter: Option<&'static Entry>,
    pub(crate) params: Vec<Param>,
    pub(crate) texts: Vec<ParamText>,
    pub(crate) name: CString,
    pub(crate) help: CString,
}

/// The texts of a parameter for the host.
pub(crate) struct ParamText {
    pub(crate) name: CString,
    pub(crate) kind: c_int,
    pub(crate) help: CString,
}

/// The description of this library.
pub(crate) fn plugin() -> &'static Plugin {
    static PLUGIN: OnceLock<Plugin> = OnceLock::new();
    PLUGIN.get_or_init(|| Plugin::named(&own_name()))
}

/// Our texts contain no zero bytes.
fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

impl Plugin {
    /// `grainfield_noise` is the filter `noise`; any other name means recipes. A `-` in a filter's name is `_` in the
    /// file's.
    fn named(name: &str) -> Plugin {
        let filter =
            name.strip_prefix("grainfield_").and_then(|f| find(f).or_else(|| find(&f.replace('_', "-"))));
        let params = params(filter);
        let kind = |shape| match shape {
            Shape::Switch => 0,
            Shape::Number(..) => 1,
            Shape::Colour => 2,
            Shape::Text => 4,
        };
        let told = |p: &Param| ParamText { name: text(&p.name), kind: kind(p.shape), help: text(p.help) };
        Plugin {
            texts: params.iter().map(told).collect(),
            params,
            name: text(&filter.map_or_else(|| "Grainfield".into(), |f| format!("Grainfield {}", f.name))),
            help: text(filter.map_or("Filters of a Grainfield recipe.", |f| f.help)),
            filter,
        }
    }
}

/// The name of the file that this code was loaded from, without folder and extension.
#[allow(unsafe_code)] // no safe function returns the library that contains an address
fn own_name() -> String {
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the address is of this library, and the structure is ours.
    let known = unsafe { libc::dladdr(own_name as *const libc::c_void, &mut info) } != 0;
    if !known || info.dli_fname.is_null() {
        return String::new();
    }
    // SAFETY: a text of the loader's that lives as long as the library.
    let path = unsafe { std::ffi::CStr::from_ptr(info.dli_fname) };
    let path = PathBuf::from(path.to_string_lossy().into_owned());
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_filters() {
        let noise = Plugin::named("grainfield_noise");
        assert_eq!(noise.filter.map(|f| f.name), Some("noise"));
        assert_eq!(
            (noise.texts[0].name.to_str(), noise.texts[1].name.to_str()),
            (Ok("Settings"), Ok("Rate"))
        );
        for other in ["grainfield", "grainfield_nothing", "noise", ""] {
            let recipes = Plugin::named(other);
            assert!(recipes.filter.is_none() && recipes.params[0].name == "Recipe", "{other}");
        }
    }
}
