// A stand-in of tcb::span: as much of it as RSL needs.
#pragma once
#include <cstddef>

namespace tcb
{
template <typename T>
class span
{
public:
  span() = default;
  span(T * data, std::size_t size) : data_(data), size_(size) {}
  T * data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T * begin() const { return data_; }
  T * end() const { return data_ + size_; }
  T & operator[](std::size_t i) const { return data_[i]; }

private:
  T * data_ = nullptr;
  std::size_t size_ = 0;
};
}  // namespace tcb
