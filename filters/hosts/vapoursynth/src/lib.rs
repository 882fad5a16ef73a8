//! Grainfield as a plugin of VapourSynth 4: namespace `grf`, a function for each filter of the catalog, and
//! `grf.Chain`.
//!
//! `ffi` is the used part of the host's interface, `host` wraps it in owned values, `arguments` makes the functions'
//! signatures, `clips` has formats and second inputs, and `filter` renders frames.

mod arguments;
mod clips;
mod ffi;
mod filter;
mod host;

use arguments::{CHAIN, function_name, signature};
use ffi::{Plugin, PluginApi};
use grainfield_filters::catalog::FILTERS;
use std::ffi::{CString, c_void};
use std::ptr;

/// The entry point: registers the plugin and its functions.
///
/// # Safety
///
/// VapourSynth calls it with the pointers of its interface.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // the host finds the plugin by this name and passes its functions
unsafe extern "C" fn VapourSynthPluginInit2(plugin: *mut Plugin, api: *const PluginApi) {
    // SAFETY: guaranteed by the host.
    let api = unsafe { &*api };
    let version = (ffi::API_MAJOR << 16, 1 << 16);
    // SAFETY: texts are zero-terminated; the host copies them.
    unsafe {
        (api.config_plugin)(
            c"org.grainfield".as_ptr(),
            c"grf".as_ptr(),
            c"Grainfield: deterministic noise, grain and effects".as_ptr(),
            version.1,
            version.0,
            0,
            plugin,
        );
    }
    for filter in FILTERS.iter().map(Some).chain([None]) {
        let name = filter.map_or_else(|| CHAIN.to_owned(), |f| function_name(f.name));
        // Names and signatures contain no zero bytes.
        let (Ok(name), Ok(signature)) = (CString::new(name), CString::new(signature(filter))) else {
            continue;
        };
        let data = filter.map_or(ptr::null(), ptr::from_ref).cast::<c_void>().cast_mut();
        // SAFETY: as above; the data lives as long as the process.
        unsafe {
            (api.register_function)(
                name.as_ptr(),
                signature.as_ptr(),
                c"clip:vnode;".as_ptr(),
                filter::create,
                data,
                plugin,
            );
        }
    }
}
