# Finds the CUDA toolkit that supplies headers (and nvcc for the sample programs). Nothing of it is linked.
#   WARPWATCH_CUDA_HOME   toolkit root: -D option, else CUDA_HOME, else /usr/local/cuda, else build/cuda (made by ./dev)
#   cuda_headers          interface target with its include directory
#   WARPWATCH_NVCC        path of nvcc
set(WARPWATCH_CUDA_HOME "" CACHE PATH "CUDA toolkit root")
# `pip install .` builds in an environment that holds NVIDIA's header wheels, which its prefix path names.
set(wheel_headers ${CMAKE_PREFIX_PATH})
list(TRANSFORM wheel_headers APPEND /nvidia/cu13/include)
find_path(WARPWATCH_CUDA_INCLUDE cuda.h
  HINTS ${WARPWATCH_CUDA_HOME}/include $ENV{CUDA_HOME}/include /usr/local/cuda/include ${CMAKE_SOURCE_DIR}/build/cuda/include
    ${wheel_headers}
  NO_DEFAULT_PATH)
if(NOT WARPWATCH_CUDA_INCLUDE)
  message(FATAL_ERROR "cuda.h not found: set CUDA_HOME to a CUDA 13 toolkit, or run ./dev build, which fetches one")
endif()
get_filename_component(_cuda_root ${WARPWATCH_CUDA_INCLUDE} DIRECTORY)
find_program(WARPWATCH_NVCC nvcc HINTS ${_cuda_root}/bin NO_DEFAULT_PATH)
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${WARPWATCH_CUDA_INCLUDE})
