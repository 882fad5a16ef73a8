//! The part of VapourSynth's interface, version 4.0, that is used. Order and layout are those of `VapourSynth4.h`.

use std::ffi::{c_char, c_int, c_void};

/// The version of the interface.
pub(crate) const API_MAJOR: c_int = 4;

macro_rules! opaque {
    ($($name:ident),*) => { $(
        #[repr(C)]
        pub(crate) struct $name {
            _private: [u8; 0],
        }
    )* };
}

opaque!(Core, Frame, FrameContext, Map, Node, Plugin);

/// `VSVideoFormat`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct VideoFormat {
    pub(crate) color_family: c_int,
    pub(crate) sample_type: c_int,
    pub(crate) bits: c_int,
    pub(crate) bytes: c_int,
    pub(crate) sub_w: c_int,
    pub(crate) sub_h: c_int,
    pub(crate) planes: c_int,
}

/// `VSVideoInfo`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VideoInfo {
    pub(crate) format: VideoFormat,
    pub(crate) fps_num: i64,
    pub(crate) fps_den: i64,
    pub(crate) width: c_int,
    pub(crate) height: c_int,
    pub(crate) frames: c_int,
}

pub(crate) const GRAY: c_int = 1;
pub(crate) const RGB: c_int = 2;
pub(crate) const YUV: c_int = 3;

pub(crate) const REASON_INITIAL: c_int = 0;
pub(crate) const REASON_ALL_READY: c_int = 1;
pub(crate) const MODE_PARALLEL: c_int = 0;
pub(crate) const PATTERN_GENERAL: c_int = 0;
pub(crate) const PATTERN_STRICT_SPATIAL: c_int = 2;
pub(crate) const REPLACE: c_int = 0;
pub(crate) const TYPE_UTF8: c_int = 1;

/// `VSFilterDependency`.
#[repr(C)]
pub(crate) struct Dependency {
    pub(crate) source: *mut Node,
    pub(crate) pattern: c_int,
}

pub(crate) type Create = unsafe extern "C" fn(*const Map, *mut Map, *mut c_void, *mut Core, *const Api);
pub(crate) type GetFrame = unsafe extern "C" fn(
    c_int,
    c_int,
    *mut c_void,
    *mut *mut c_void,
    *mut FrameContext,
    *mut Core,
    *const Api,
) -> *const Frame;
pub(crate) type Free = unsafe extern "C" fn(*mut c_void, *mut Core, *const Api);

/// `VSPLUGINAPI`.
#[repr(C)]
pub(crate) struct PluginApi {
    _get_api_version: Unused,
    pub(crate) config_plugin: unsafe extern "C" fn(
        *const c_char,
        *const c_char,
        *const c_char,
        c_int,
        c_int,
        c_int,
        *mut Plugin,
    ) -> c_int,
    pub(crate) register_function: unsafe extern "C" fn(
        *const c_char,
        *const c_char,
        *const c_char,
        Create,
        *mut c_void,
        *mut Plugin,
    ) -> c_int,
}

/// A function that is not used.
type Unused = *const c_void;

/// `VSAPI`, up to the last function that is used.
#[repr(C)]
pub(crate) struct Api {
    pub(crate) create_video_filter: unsafe extern "C" fn(
        *mut Map,
        *const c_char,
        *const VideoInfo,
        GetFrame,
        Free,
        c_int,
        *const Dependency,
        c_int,
        *mut c_void,
        *mut Core,
    ),
    _create_video_filter2: Unused,
    _create_audio_filter: Unused,
    _create_audio_filter2: Unused,
    _set_linear_filter: Unused,
    _set_cache_mode: Unused,
    _set_cache_options: Unused,
    pub(crate) free_node: unsafe extern "C" fn(*mut Node),
    _add_node_ref: Unused,
    _get_node_type: Unused,
    pub(crate) get_video_info: unsafe extern "C" fn(*mut Node) -> *const VideoInfo,
    _get_audio_info: Unused,
    pub(crate) new_video_frame:
        unsafe extern "C" fn(*const VideoFormat, c_int, c_int, *const Frame, *mut Core) -> *mut Frame,
    _new_video_frame2: Unused,
    _new_audio_frame: Unused,
    _new_audio_frame2: Unused,
    pub(crate) free_frame: unsafe extern "C" fn(*const Frame),
    _add_frame_ref: Unused,
    _copy_frame: Unused,
    pub(crate) get_frame_properties_ro: unsafe extern "C" fn(*const Frame) -> *const Map,
    pub(crate) get_frame_properties_rw: unsafe extern "C" fn(*mut Frame) -> *mut Map,
    pub(crate) get_stride: unsafe extern "C" fn(*const Frame, c_int) -> isize,
    pub(crate) get_read_ptr: unsafe extern "C" fn(*const Frame, c_int) -> *const u8,
    pub(crate) get_write_ptr: unsafe extern "C" fn(*mut Frame, c_int) -> *mut u8,
    pub(crate) get_video_frame_format: unsafe extern "C" fn(*const Frame) -> *const VideoFormat,
    _get_audio_frame_format: Unused,
    _get_frame_type: Unused,
    pub(crate) get_frame_width: unsafe extern "C" fn(*const Frame, c_int) -> c_int,
    pub(crate) get_frame_height: unsafe extern "C" fn(*const Frame, c_int) -> c_int,
    _get_frame_length: Unused,
    _get_video_format_name: Unused,
    _get_audio_format_name: Unused,
    pub(crate) query_video_format:
        unsafe extern "C" fn(*mut VideoFormat, c_int, c_int, c_int, c_int, c_int, *mut Core) -> c_int,
    _query_audio_format: Unused,
    _query_video_format_id: Unused,
    _get_video_format_by_id: Unused,
    pub(crate) get_frame: unsafe extern "C" fn(c_int, *mut Node, *mut c_char, c_int) -> *const Frame,
    _get_frame_async: Unused,
    pub(crate) get_frame_filter: unsafe extern "C" fn(c_int, *mut Node, *mut FrameContext) -> *const Frame,
    pub(crate) request_frame_filter: unsafe extern "C" fn(c_int, *mut Node, *mut FrameContext),
    _release_frame_early: Unused,
    _cache_frame: Unused,
    pub(crate) set_filter_error: unsafe extern "C" fn(*const c_char, *mut FrameContext),
    _create_function: Unused,
    _free_function: Unused,
    _add_function_ref: Unused,
    _call_function: Unused,
    _create_map: Unused,
    _free_map: Unused,
    _clear_map: Unused,
    _copy_map: Unused,
    pub(crate) map_set_error: unsafe extern "C" fn(*mut Map, *const c_char),
    _map_get_error: Unused,
    _map_num_keys: Unused,
    _map_get_key: Unused,
    _map_delete_key: Unused,
    pub(crate) map_num_elements: unsafe extern "C" fn(*const Map, *const c_char) -> c_int,
    _map_get_type: Unused,
    _map_set_empty: Unused,
    pub(crate) map_get_int: unsafe extern "C" fn(*const Map, *const c_char, c_int, *mut c_int) -> i64,
    _map_get_int_saturated: Unused,
    _map_get_int_array: Unused,
    pub(crate) map_set_int: unsafe extern "C" fn(*mut Map, *const c_char, i64, c_int) -> c_int,
    _map_set_int_array: Unused,
    pub(crate) map_get_float: unsafe extern "C" fn(*const Map, *const c_char, c_int, *mut c_int) -> f64,
    _map_get_float_saturated: Unused,
    _map_get_float_array: Unused,
    _map_set_float: Unused,
    _map_set_float_array: Unused,
    pub(crate) map_get_data:
        unsafe extern "C" fn(*const Map, *const c_char, c_int, *mut c_int) -> *const c_char,
    pub(crate) map_get_data_size: unsafe extern "C" fn(*const Map, *const c_char, c_int, *mut c_int) -> c_int,
    _map_get_data_type_hint: Unused,
    pub(crate) map_set_data:
        unsafe extern "C" fn(*mut Map, *const c_char, *const c_char, c_int, c_int, c_int) -> c_int,
    pub(crate) map_get_node: unsafe extern "C" fn(*const Map, *const c_char, c_int, *mut c_int) -> *mut Node,
    _map_set_node: Unused,
    _map_consume_node: Unused,
    pub(crate) map_get_frame:
        unsafe extern "C" fn(*const Map, *const c_char, c_int, *mut c_int) -> *const Frame,
    _map_set_frame: Unused,
    pub(crate) map_consume_frame: unsafe extern "C" fn(*mut Map, *const c_char, *const Frame, c_int) -> c_int,
}
