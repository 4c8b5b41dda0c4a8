# simgpu.cmake — a CMake toolchain file: cmake -B build -DCMAKE_TOOLCHAIN_FILE=…/simgpu.cmake. Its
# nvcc is simgpu's. CMake links targets without CUDA files by the C++ compiler, with NVIDIA's
# libraries; the variables of FindCUDAToolkit name simgpu's instead. SIMGPU names an installed
# simgpu, as for `nvcc`.
set(simgpu_libraries ${CMAKE_CURRENT_LIST_DIR}/../../../build/lib)
if(DEFINED ENV{SIMGPU})
    get_filename_component(simgpu_folder $ENV{SIMGPU} DIRECTORY)
    foreach(folder ${simgpu_folder}/lib ${simgpu_folder}/../lib/warpbook)
        if(EXISTS ${folder}/libwbcudart.a)
            set(simgpu_libraries ${folder})
        endif()
    endforeach()
endif()
get_filename_component(simgpu_libraries ${simgpu_libraries} ABSOLUTE)
set(CMAKE_CUDA_COMPILER ${CMAKE_CURRENT_LIST_DIR}/nvcc)
foreach(name CUDA_CUDART CUDA_cudart_LIBRARY CUDA_cudart_static_LIBRARY CUDA_cuda_driver_LIBRARY)
    set(${name} ${simgpu_libraries}/libwbcudart.a CACHE FILEPATH "simgpu's CUDA runtime" FORCE)
endforeach()
foreach(library cublas cusparse cufft curand)
    foreach(name CUDA_${library}_LIBRARY CUDA_${library}_static_LIBRARY)
        set(${name} ${simgpu_libraries}/libwb${library}.a CACHE FILEPATH "simgpu's" FORCE)
    endforeach()
endforeach()
