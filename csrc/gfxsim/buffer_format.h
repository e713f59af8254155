// The data formats of buffer_load_format, buffer_store_format and their typed twins (gfx9).
#pragma once

#include <array>
#include <cstdint>

#include "gfxsim/lane_data.h"

namespace gfxsim {

enum NumFormat : uint8_t { kUnorm, kSnorm, kUscaled, kSscaled, kUint, kSint, kFloat = 7 };

struct BufferFormat {
  int components = 0;
  std::array<uint8_t, 4> bits{};  // of each component, lowest first
  int bytes = 0;                  // of the element
  uint8_t num_format = 0;
};

// Faults with Unsupported for a format that the simulator does not convert.
BufferFormat buffer_format(uint8_t data_format, uint8_t num_format);

// Component `component` of the raw element, as the 32-bit register value: a float for normalised,
// scaled and float formats, else an integer.
uint32_t decode_component(const BufferFormat& format, const uint32_t* element, int component);
// Places a register value in the element.
void encode_component(const BufferFormat& format, uint32_t value, int component, uint32_t* element);
// Whether register values are floats.
bool is_float_format(const BufferFormat& format);

}  // namespace gfxsim
