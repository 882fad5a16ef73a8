//! Grainfield as frei0r plugins: one library, whose file name selects the filter (`grainfield_noise.so`) or recipes
//! (`grainfield.so`). (Files are copies, not links: the system's loader treats two names of one file as one library.)
//!
//! `plugin` describes a library, `instance` is one effect in a host, `clock` computes the frame number from the host's
//! time. This module has the functions of frei0r 1.2.

mod clock;
mod instance;
mod plugin;

use instance::Instance;
use plugin::plugin;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// `f0r_plugin_info_t`.
#[repr(C)]
struct PluginInfo {
    name: *const c_char,
    author: *const c_char,
    plugin_type: c_int,
    color_model: c_int,
    frei0r_version: c_int,
    major_version: c_int,
    minor_version: c_int,
    num_params: c_int,
    explanation: *const c_char,
}

/// `f0r_param_info_t`.
#[repr(C)]
struct ParamInfo {
    name: *const c_char,
    kind: c_int,
    explanation: *const c_char,
}

const FILTER: c_int = 0;
const RGBA: c_int = 1;

/// Called once.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // hosts find the function by this name
extern "C" fn f0r_init() -> c_int {
    plugin();
    1
}

/// Does nothing: the library stays in memory.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
extern "C" fn f0r_deinit() {}

/// # Safety
///
/// The host passes a structure to fill in.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above, and the host's structure is written
unsafe extern "C" fn f0r_get_plugin_info(info: *mut PluginInfo) {
    let plugin = plugin();
    let filled = PluginInfo {
        name: plugin.name.as_ptr(),
        author: c"Grainfield".as_ptr(),
        plugin_type: FILTER,
        color_model: RGBA,
        frei0r_version: 1,
        major_version: 1,
        minor_version: 0,
        num_params: plugin.params.len() as c_int,
        explanation: plugin.help.as_ptr(),
    };
    // SAFETY: the host's structure.
    unsafe { info.write(filled) }
}

/// # Safety
///
/// The host passes a structure to fill in.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_get_param_info(info: *mut ParamInfo, index: c_int) {
    let Some(texts) = usize::try_from(index).ok().and_then(|i| plugin().texts.get(i)) else { return };
    let filled = ParamInfo { name: texts.name.as_ptr(), kind: texts.kind, explanation: texts.help.as_ptr() };
    // SAFETY: the host's structure.
    unsafe { info.write(filled) }
}

/// An effect for pictures of this size.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
extern "C" fn f0r_construct(width: c_uint, height: c_uint) -> *mut c_void {
    Box::into_raw(Box::new(Instance::new(plugin(), width, height))).cast()
}

/// # Safety
///
/// `instance` must come from [`f0r_construct`] and not be used afterwards.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_destruct(instance: *mut c_void) {
    if !instance.is_null() {
        // SAFETY: guaranteed by the host.
        drop(unsafe { Box::from_raw(instance.cast::<Instance>()) });
    }
}

/// # Safety
///
/// `instance` must come from [`f0r_construct`] and be used by one thread at a time; `value` must point to a value of
/// the parameter's type.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_set_param_value(instance: *mut c_void, value: *mut c_void, index: c_int) {
    let (Ok(index), false) = (usize::try_from(index), value.is_null()) else { return };
    // SAFETY: guaranteed by the host.
    unsafe { (*instance.cast::<Instance>()).set(index, value) }
}

/// # Safety
///
/// As [`f0r_set_param_value`].
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_get_param_value(instance: *mut c_void, value: *mut c_void, index: c_int) {
    let (Ok(index), false) = (usize::try_from(index), value.is_null()) else { return };
    // SAFETY: guaranteed by the host.
    unsafe { (*instance.cast::<Instance>()).get(index, value) }
}

/// # Safety
///
/// `instance` must come from [`f0r_construct`] and be used by one thread at a time; the pictures must have
/// its size.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_update(instance: *mut c_void, time: f64, input: *const u32, output: *mut u32) {
    // SAFETY: guaranteed by the host, which may pass the same picture twice, so two slices of it never exist at the
    // same time.
    unsafe { (*instance.cast::<Instance>()).update(time, input, output) }
}
