//! Grainfield as frei0r plugins: one library that is the filter which its file is named after, `grainfield_noise.so`, or
//! takes recipes as `grainfield.so`. (Copies, not links: the system's loader takes two names of one file for one library.)
//!
//! `plugin` is what a library is, `instance` one effect of a host's, `clock` finds the frame's number in the host's time.
//! Here are the functions that frei0r 1.2 names.

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

/// Nothing to undo: the library stays in memory.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
extern "C" fn f0r_deinit() {}

/// # Safety
///
/// Called by the host with a structure to fill in.
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
/// Called by the host with a structure to fill in.
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
/// `instance` is from [`f0r_construct`] and not used afterwards.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_destruct(instance: *mut c_void) {
    if !instance.is_null() {
        // SAFETY: the host's promise.
        drop(unsafe { Box::from_raw(instance.cast::<Instance>()) });
    }
}

/// # Safety
///
/// `instance` is from [`f0r_construct`], used by one thread at a time, and `value` points to a value of the parameter's type.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_set_param_value(instance: *mut c_void, value: *mut c_void, index: c_int) {
    let (Ok(index), false) = (usize::try_from(index), value.is_null()) else { return };
    // SAFETY: the host's promise.
    unsafe { (*instance.cast::<Instance>()).set(index, value) }
}

/// # Safety
///
/// As [`f0r_set_param_value`].
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_get_param_value(instance: *mut c_void, value: *mut c_void, index: c_int) {
    let (Ok(index), false) = (usize::try_from(index), value.is_null()) else { return };
    // SAFETY: the host's promise.
    unsafe { (*instance.cast::<Instance>()).get(index, value) }
}

/// # Safety
///
/// `instance` is from [`f0r_construct`], used by one thread at a time; the pictures have its size.
#[unsafe(no_mangle)]
#[allow(unsafe_code)] // as above
unsafe extern "C" fn f0r_update(instance: *mut c_void, time: f64, input: *const u32, output: *mut u32) {
    // SAFETY: the host's promise; a host may give the same picture twice, so no two slices of it are made at a time.
    unsafe { (*instance.cast::<Instance>()).update(time, input, output) }
}
